// The parts of Newton's steps in time. Passes that a step has anyway read the clock of the device
// that runs them, so that a step which is one CUDA graph is timed without a wait: no event may be
// recorded within the graph's loop.
#pragma once

#ifndef __CUDA_ARCH__
#include <chrono>
#endif

#include "heddle/entries/annotations.hpp"

namespace heddle::heart {

struct StepParts {
  long long since = 0;     // when the current part began
  long long assembly = 0;  // ns: cells, R with its norm, and K
  long long solve = 0;     // ns: the linear systems, and the change of the potential by them

  static HEDDLE_INLINE long long now() {
#ifdef __CUDA_ARCH__
    long long nanoseconds;
    asm volatile("mov.u64 %0, %%globaltimer;" : "=l"(nanoseconds));
    return nanoseconds;
#else
    using std::chrono::nanoseconds, std::chrono::steady_clock;
    return std::chrono::duration_cast<nanoseconds>(steady_clock::now().time_since_epoch()).count();
#endif
  }
  /// The time since the last call belongs to no part.
  HEDDLE_INLINE void begin() { since = now(); }
  HEDDLE_INLINE void end_assembly() { end(assembly); }
  HEDDLE_INLINE void end_solve() { end(solve); }

 private:
  HEDDLE_INLINE void end(long long& part) {
    const long long at = now();
    part += at - since;
    since = at;
  }
};

}  // namespace heddle::heart
