// What a solve is asked for, as its decisions read it.
#pragma once

#include <limits>
#include <type_traits>

#include "heddle/detail/reduction.hpp"
#include "heddle/kernels/loop_state.hpp"
#include "heddle/report.hpp"
#include "scale_range.hpp"

namespace heddle::detail {

/// What the options ask for. T is what scalars are summed in.
template <class T>
struct SolveGoal {
  T tolerance = 0;
  T absolute_tolerance = 0;
  Baseline baseline = Baseline::right_hand_side;
  long long max_iterations = 0;
  unsigned long long nanoseconds = 0;  // of the time limit
  bool has_time_limit = false;
  T epsilon = 0;  // of the scalars of fields
  T scalars = 0;  // of a field
  bool checks = true;
  bool keeps_best = false;                // x, where a limit ends the solve
  ScaleRange<T> range;                    // of the scalars of fields
  long long room = 0;                     // for |r|^2 of each iteration, one more for the guess
  bool keeps_all = false;                 // of that history, also across runs
  bool looks_at_direction = false;        // where p* A p is not positive; else that is a breakdown
  StoredScalar copy = StoredScalar::own;  // of the matrix, which runs read as long as it does
  bool continues_runs = false;  // over a copy, see methods/continued_conjugate_gradient.hpp
  long long unwatched = device::usually_unwatched;  // of a device::LoopLimits
};

/// Of fields of S with so many scalars.
template <class S>
SolveGoal<sum_t<S>> goal_of(const SolverOptions& options, Offset scalars, StoredScalar copy) {
  using T = sum_t<S>;
  SolveGoal<T> goal;
  const double of_precision = std::is_same_v<S, float> ? 1e-5 : 1e-10;
  goal.tolerance = static_cast<T>(
      options.tolerance != SolverOptions::by_precision ? options.tolerance : of_precision);
  goal.absolute_tolerance = static_cast<T>(options.absolute_tolerance);
  goal.baseline = options.baseline;
  goal.max_iterations = goal.room = options.max_iterations;
  goal.epsilon = static_cast<T>(std::numeric_limits<S>::epsilon());
  goal.scalars = static_cast<T>(scalars);
  goal.checks = options.checks;
  goal.keeps_best = options.keep == Keep::best;
  goal.range = scale_range<S, T>();
  goal.keeps_all = options.record_history;
  goal.copy = copy;
  return goal;
}

}  // namespace heddle::detail
