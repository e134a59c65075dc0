// Solves that no host drives.
#pragma once

#include <atomic>
#include <memory>
#include <vector>

#include "heddle/krylov_solver.hpp"
#include "solvers/gpu_loops/enqueued_solve_cuda.hpp"

namespace heddle::detail {

template <class S>
class EnqueuedSolves {
 public:
  explicit EnqueuedSolves(KrylovParts<S>& solver) : solver_(solver) {}

  /// See the functions of `KrylovSolver`.
  void prepare(const FieldView<const S>& b, const FieldView<S>& x, DeviceReport* report) {
    const cuda::SolveTarget<S> target = target_of(b, x, report);
    solve_->prepare(target);
  }
  void enqueue(const FieldView<const S>& b, const FieldView<S>& x, DeviceReport* report) {
    const cuda::SolveTarget<S> target = target_of(b, x, report);
    solve_->enqueue(target);
  }
  void cancel() {
    device::LoopWatch* const watch = watched_.load();
    if (watch == nullptr) return;
    __atomic_store_n(&watch->cancel, int{device::loop_cancelled}, __ATOMIC_RELAXED);
  }
  std::vector<double> history() const { return solve_ ? solve_->history() : std::vector<double>(); }

  /// Waits for the enqueued work, which a change of the solver makes obsolete.
  void forget();

 private:
  /// Checks the arguments of `enqueue`, and makes the solve if it does not exist.
  cuda::SolveTarget<S> target_of(const FieldView<const S>& b, const FieldView<S>& x,
                                 DeviceReport* report);

  KrylovParts<S>& solver_;
  std::shared_ptr<cuda::EnqueuedSolve<S>> solve_;     // null before the first, and once forgotten
  std::shared_ptr<device::LoopWatch> watch_;          // shared by all of them
  std::atomic<device::LoopWatch*> watched_{nullptr};  // the same for `cancel`
};

}  // namespace heddle::detail
