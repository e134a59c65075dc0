// A column of block conjugate gradients: its solve, and its place in the current run.
#pragma once

#include <cmath>
#include <vector>

#include "heddle/kernels/loop_state.hpp"
#include "solvers/stopping/solve_decisions.hpp"

namespace heddle::detail {

template <class T>
struct BlockColumn {
  static bool is_limit(device::LoopEnd end) {
    return end == device::loop_limit || end == device::loop_time || end == device::loop_cancelled;
  }
  bool has_no_number() const { return !methods::is_finite(state.squared_b); }
  double relative(T squared) const {
    return static_cast<double>(decisions::relative(state, std::sqrt(squared)));
  }

  SolveState<T> state{};
  device::LoopEnd end_of_run = device::loop_runs;  // end of its last run
  T least = 0;                                     // |r|^2 when |r| was last halved
  long long halved = 0;                            // the iteration then
  T drop = 0;  // |r|^2 of the iterate that was kept last, in this run
  bool has_drop = false;
  bool has_left = false;          // left the run before its end
  bool has_arrived = false;       // by the recurrence, in its last iteration
  std::vector<double> residuals;  // residuals of the current run, for the history
};

}  // namespace heddle::detail
