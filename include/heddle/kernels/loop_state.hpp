// The scalars of a solve that runs on a GPU: the host sets the limits, kernels write the rest.
#pragma once

#include "heddle/entries/slots.hpp"

namespace heddle::device {

/// Why a run on the device came to its end.
enum LoopEnd {
  loop_runs,
  loop_reached,  // the residual of the recurrence is within the target
  loop_grew,     // so far that rounding leaves no correct digit
  loop_limit,    // the limit of iterations, or of the room for the history
  loop_time,
  loop_cancelled,
  loop_not_finite,
  loop_not_positive,  // p* A p is not positive
  loop_not_definite,  // r* M^-1 r is negative
  loop_lost,          // r* M^-1 r, or in BiCGStab <r^, A p> or <r^, r> vanishes
  loop_orthogonal,    // BiCGStab: A s is orthogonal to s
  loop_cycle          // GMRES: the basis is full, the next run begins from b - A x
};

/// Data that the host can read and write while kernels run, in mapped memory.
struct LoopWatch {
  volatile long long iteration;
  volatile double squared_norm;
  volatile int cancel;  // why the host requests an end: a LoopEnd, 0 for none
  volatile int end;     // the end of a graph's run: a LoopEnd, as soon as there is one
};

inline constexpr long long usually_unwatched = 15;

struct LoopLimits {
  double target;                // |r|^2 that is small enough
  double growth;                // |r|^2 that is too much
  double squared_norm;          // |r|^2 where the run begins
  long long iterations;         // most iterations of this run
  unsigned long long deadline;  // in nanoseconds of the GPU's clock, 0 for none
  unsigned long long patience;  // nanoseconds; the deadline is set from it by the first kernel
  long long unwatched;          // graph loops: iterations between looks at clock and host, 2^k - 1
};

/// Room for what a method's decisions leave to the next kernels: a kernel reads one of two sides
/// and writes the other, since some of its blocks may begin when others are done.
inline constexpr int bytes_of_side = 512;

/// How many numbers a run is given: its first coefficients, which are real where they are used.
inline constexpr int max_given = 2;

struct LoopState {
  LoopLimits limits;
  LoopWatch* watch;
  double* history;      // |r|^2 after each iteration of this run
  long long iteration;  // iterations done in this run
  int end;              // a LoopEnd; a method with a basis forms x after it, and leaves no r
  alignas(16) unsigned char side[2][bytes_of_side];  // for loops that are made of steps

  /// Sets `max_given` numbers of a run that has not begun: a side begins with the coefficients.
  HEDDLE_HD void give(const double* numbers) {
    for (int k = 0; k < max_given; ++k) reinterpret_cast<double*>(side[0])[k] = numbers[k];
  }
  /// Makes every kernel of the run return at once: wherever a side keeps its end, it is
  /// `loop_limit`.
  HEDDLE_HD void skip() {
    end = loop_limit;
    for (auto& words : side) {
      for (int k = 0; k < bytes_of_side / 8; ++k) reinterpret_cast<long long*>(words)[k] = end;
    }
  }
};

}  // namespace heddle::device
