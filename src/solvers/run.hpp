// A run of a method on a device: it goes from a residual until something ends it, without the host.
#pragma once

#include <functional>
#include <span>

#include "heddle/kernels/loop_state.hpp"

namespace heddle::cuda {

/// Of a device::LoopLimits: clock and host are far away, but not where an iteration takes a
/// fraction of a millisecond or, on slow GPUs, more.
inline long long unwatched_iterations(long long bytes_of_iteration) {
  constexpr long long worth_watching = 1LL << 30;
  return bytes_of_iteration >= worth_watching ? 0 : device::usually_unwatched;
}

/// What a run may take.
struct RunLimits {
  double target = 0;                                // |r|^2 that is small enough
  double growth = 0;                                // |r|^2 that is too much
  long long iterations = 0;                         // at most
  double seconds = 0;                               // infinity for no limit
  long long unwatched = device::usually_unwatched;  // of a device::LoopLimits
  /// Called now and then with the iteration of this run and |r|^2; false cancels. May be empty.
  std::function<bool(long long, double)> observe;
};

struct RunResult {
  int end = 0;  // a device::LoopEnd
  long long iterations = 0;
  double squared_norm = 0;          // of the recurrence, at the end
  std::span<const double> history;  // |r|^2 after each iteration; valid until the next run
};

}  // namespace heddle::cuda
