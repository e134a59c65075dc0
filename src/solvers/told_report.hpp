// The report of a solve, of what its decisions found.
#pragma once

#include "solve_decisions.hpp"

namespace heddle::detail {

/// All but times, bytes, the loop's form, and details.
template <class T>
void tell(const SolveState<T>& state, Index rows, Report& report) {
  DeviceReport found;
  decisions::report(state, rows, found);
  report.status = found.status;
  report.stored = found.stored == StoredScalar::single ? "float" : "own";
  report.restarts = found.restarts;
  report.iterations = found.iterations;
  report.residual = found.residual;
  report.residual_norm = found.residual_norm;
  report.baseline_norm = found.baseline_norm;
  report.target_norm = found.target_norm;
  report.backward_error = found.backward_error;
}

}  // namespace heddle::detail
