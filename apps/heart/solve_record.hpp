// Statistics of many steps' solves, in a few numbers that a GPU can keep.
#pragma once

#include "heddle/entries/annotations.hpp"
#include "heddle/report.hpp"

namespace heddle::heart {

HEDDLE_INLINE bool is_solved(Status status) {
  return status == Status::converged || status == Status::accuracy_limit;
}

struct SolveRecord {
  long long solves = 0;  // diffusion solves
  long long iterations = 0;
  long long at_accuracy_limit = 0;
  long long failed_step = -1;  // the first step that was not solved, counted from 0
  Status failed_status = Status::converged;
  double worst_residual = 0;  // relative, over the successful solves; NaN if one is

  HEDDLE_INLINE void add(long long step, Status status, long long its, double residual) {
    if (failed_step >= 0) return;
    ++solves;
    add_projection(step, status, its, residual);
  }

  /// Another solve in the step, before that of its diffusion, which counts the steps.
  HEDDLE_INLINE void add_projection(long long step, Status status, long long its, double residual) {
    if (failed_step >= 0) return;
    iterations += its;
    if (status == Status::accuracy_limit) ++at_accuracy_limit;
    if (!is_solved(status)) {
      failed_step = step;
      failed_status = status;
    } else if (worst_residual == worst_residual && !(residual <= worst_residual)) {
      worst_residual = residual;
    }
  }
};

}  // namespace heddle::heart
