// The end of a method's run: one policy for the host and for kernels.
#pragma once

#if !defined(__CUDACC_RTC__)
#include <cmath>
#endif

#include "heddle/entries/annotations.hpp"
#include "heddle/kernels/loop_state.hpp"

namespace heddle::methods {

template <class T>
HEDDLE_INLINE bool is_finite(T value) {
  return value - value == 0;
}

template <class T>
HEDDLE_INLINE T square_root(T value) {
#if defined(__CUDACC_RTC__)
  return ::sqrt(value);
#else
  return std::sqrt(value);
#endif
}

/// The verdict after `iteration` iterations that left a residual of this squared norm.
template <class Limits, class T>
HEDDLE_INLINE int judged(const Limits& limits, T squared_norm, long long iteration) {
  if (!is_finite(squared_norm)) return device::loop_not_finite;
  if (squared_norm <= limits.target) return device::loop_reached;
  if (squared_norm > limits.growth) return device::loop_grew;
  return iteration >= limits.iterations ? device::loop_limit : device::loop_runs;
}

/// The state of the run that a decision gets, and the verdict that it leaves.
template <class T>
struct Judge {
  T target;              // a |r|^2 that is small enough
  T growth;              // a |r|^2 that is too large
  T first_squared_norm;  // |r|^2 at the start of the run
  long long iterations;  // at most
  long long iteration;   // done
  T rounding;  // rounding of the numbers in vectors: the difference between 1 and its neighbour
  T squared_norm = 0;  // |r|^2 of the iteration that was concluded
  bool concluded = false;
  int end = device::loop_runs;
  bool at_once = false;

  HEDDLE_INLINE bool runs() const { return end == device::loop_runs; }

  /// Ends the run here, before the update that follows the decision; `loop_runs` does not end it.
  HEDDLE_INLINE void stop(int why) {
    if (runs() && why != device::loop_runs) {
      end = why;
      at_once = true;
    }
  }
  /// Ends the run with that update.
  HEDDLE_INLINE void finish(int why) {
    if (runs()) end = why;
  }
  /// Applies an end announced earlier.
  HEDDLE_INLINE void stop_if_over() { at_once = !runs(); }
  /// Counts one more iteration, which left a residual of this squared norm.
  HEDDLE_INLINE void conclude(T squared) {
    squared_norm = squared;
    concluded = true;
    finish(judged(*this, squared, ++iteration));
  }
  HEDDLE_INLINE static int why_not_positive(T value, int otherwise) {
    if (value > 0) return device::loop_runs;
    if (value == 0 && otherwise == device::loop_not_definite) return device::loop_lost;
    return is_finite(value) ? otherwise : int(device::loop_not_finite);
  }
};

}  // namespace heddle::methods
