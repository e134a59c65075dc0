// Parts that solving calls share.
#pragma once

#include <atomic>
#include <string>
#include <variant>

#include "guard.hpp"
#include "handles.hpp"
#include "heddle/report.hpp"

namespace heddle::c {

/// Holds a flag that no other thread, and no callback of this thread, holds; null for no flag.
class AtWork {
 public:
  AtWork(std::atomic_flag* flag, const char* what) : flag_(flag) {
    if (flag_ != nullptr && flag_->test_and_set()) {
      throw Busy(std::string("this ") + what +
                 " is in use by another call; it serves one at a time");
    }
  }
  AtWork(const AtWork&) = delete;
  AtWork& operator=(const AtWork&) = delete;
  ~AtWork() {
    if (flag_ != nullptr) flag_->clear();
  }

 private:
  std::atomic_flag* flag_;
};

/// Null for none.
template <class S>
SharedPreconditioner<S> preconditioner_for(const heddle_preconditioner* given) {
  if (given == nullptr) return nullptr;
  const auto* const fitting = std::get_if<SharedPreconditioner<S>>(&given->parts.made);
  if (fitting == nullptr) {
    throw Error(ErrorKind::size_mismatch, "operator and preconditioner differ in precision");
  }
  return *fitting;
}

inline heddle_report c_report(const Report& report) {
  heddle_report c{};
  c.outcome = static_cast<heddle_outcome>(report.status);
  c.restarts = report.restarts;
  c.iterations = report.iterations;
  c.residual = report.residual;
  c.residual_norm = report.residual_norm;
  c.baseline_norm = report.baseline_norm;
  c.target_norm = report.target_norm;
  c.backward_error = report.backward_error;
  c.seconds = report.iterate_seconds;
  c.returned = static_cast<heddle_returned>(report.returned);
  return c;
}

/// Throws `Error` (unsupported) for block-cg, which is not a `KrylovSolver`.
inline void refuse_block(const heddle_solver& solver) {
  if (solver.solver.has_krylov()) return;
  throw Error(ErrorKind::unsupported, "block-cg supports neither enqueueing nor a null space");
}
/// Throws `Error` (unsupported) for solves that the host drives.
inline void check_enqueues(const heddle_solver& solver) {
  refuse_block(solver);
  if (!solver.solver.is_refined()) return;
  throw Error(ErrorKind::unsupported, "solves with fields in single precision cannot be enqueued");
}

/// Clears the own report until another enqueued solve has ended.
inline void forget_own_report(heddle_solver& solver) {
  if (solver.own_report) solver.own_report->status = static_cast<Status>(-1);
}

/// Makes the solver call the caller's observer, or not, as `enqueue` requires. Prepared graphs are
/// left unchanged, so that graphs of the caller go on using them.
inline void set_observed(heddle_solver& solver, bool observed) {
  if (!solver.observer) return;
  const SolverOptions& now = solver.solver.options();
  if (static_cast<bool>(now.observer) == observed) return;
  SolverOptions options = now;
  options.observer = observed ? solver.observer : nullptr;
  solver.solver.set_options(std::move(options));
}

}  // namespace heddle::c
