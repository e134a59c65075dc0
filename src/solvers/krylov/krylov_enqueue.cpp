// Solves that no host drives.
#include <string>
#include <utility>

#include "base/device_cuda.hpp"
#include "base/long_double.hpp"
#include "heddle/config.hpp"
#include "heddle/krylov_solver.hpp"
#include "method_rows.hpp"
#include "solvers/gpu_loops/enqueued_solve_cuda.hpp"
#include "solvers/gpu_loops/queued_product_cuda.hpp"

namespace heddle {

template <class S>
void KrylovSolver<S>::forget_enqueued() {
  if (enqueued_) device_.synchronize();  // it may be running
  enqueued_.reset();
}

template <class S>
cuda::SolveTarget<S> KrylovSolver<S>::target_of(const FieldView<const S>& b, const FieldView<S>& x,
                                                DeviceReport* report) {
  if constexpr (has_cuda && !std::is_same_v<S, long double>) {
    Place& place = places_.front();
    check_same_shape(b, place.residual, "the right-hand side");
    check_same_shape(x, place.residual, "the solution");
    check_apart(b, x, "the right-hand side", "the solution");
    iterated_ = &matrix_.iterated();  // the last `solve` may have set another
    if (stream_.share != nullptr) {
      throw Error(
          ErrorKind::unsupported,
          "enqueue: hosts of ranks synchronize during a solve and cannot leave it to the GPU");
    }
    if (!device_.on_gpu() || form_of_loop(*iterated_) == LoopForm::stepped ||
        form_of_loop(matrix_) == LoopForm::stepped) {
      throw Error(ErrorKind::unsupported,
                  "enqueue needs a loop that runs on a GPU: an operator there whose plan says "
                  "loop=graph or loop=persistent, or that only queues work, and a preconditioner "
                  "that only queues work");
    }
    if (options_.observer) {
      throw Error(
          ErrorKind::unsupported,
          "enqueue calls no observer; `cancel` ends a solve, `enqueued_history` describes it");
    }
    const bool empty = place.residual.scalars() == 0;
    if (!empty &&
        !(cuda::is_device_memory(b.data, stream_) && cuda::is_device_memory(x.data, stream_))) {
      throw Error(ErrorKind::usage,
                  "enqueue takes a right-hand side and a solution in the GPU's memory; copy them "
                  "there first");
    }
    if (!cuda::is_writable(report, stream_)) {
      throw Error(ErrorKind::usage,
                  "enqueue takes a report in the GPU's memory, or in pinned memory of the host");
    }
    const bool in_place = fits_in_place(x);
    const bool captured = cuda::is_being_captured(stream_);
    const bool is_of_another = enqueued_ && enqueued_->iterated != iterated_;
    if (!captured && is_of_another) forget_enqueued();
    if (captured && (is_of_another || !(enqueued_ && (in_place || place.own_x)))) {
      throw Error(ErrorKind::usage, cuda::not_prepared);
    }
    if (!captured) {
      if (preconditioner_ && (!preconditioner_->refreshes_in_graph() || needs_estimate())) {
        preconditioner_->refresh();
      }
      apply_foreign_work_once();
      refresh_steps();
      copy_steps();
    }
    if (!enqueued_) {
      if (compiling_.valid()) compiling_.get();
      if (!watch_) watch_ = cuda::make_loop_watch(stream_);
      cuda::SolveParts<S> parts;
      parts.product = cuda::make_queued_product(matrix_);
      if (preconditioner_ && preconditioner_->refreshes_in_graph()) {
        parts.refreshed = preconditioner_.get();
      }
      parts.preconditioner = preconditioner_of_loop();
      parts.projection = null_space_.projection;
      parts.device = device_;
      parts.options = options_;
      if (has_image_of_guess(1)) parts.image = image_of_guess_;
      parts.b = own(place.own_b);
      parts.r = place.residual;
      parts.kept = place.verified;
      parts.scratch = place.kept;
      parts.needs_positive_matrix = method_.info.needs_positive;
      parts.continues_runs =
          method_rows::continues_runs(method_.info, form_of_loop(matrix_.iterated()));
      parts.unwatched = unwatched_iterations(bytes_per_iteration());
      parts.given = steps_.on_device.data();
      parts.watch = watch_;
      const auto runs_over = [&](const LinearOperator<S>& matrix) {
        detail::MethodLoop<S>& loop = loop_over(matrix);
        const auto capture = [r = place.residual, &loop](const FieldView<S>& from,
                                                         device::LoopState* state,
                                                         const Stream& capturing) {
          loop.capture_run(from, r, state, capturing);
        };
        return cuda::SolveRuns<S>{cuda::make_queued_product(matrix), capture,
                                  loop.can_be_skipped()};
      };
      parts.runs = runs_over(matrix_.iterated());
      if (iterated_ != &matrix_ && matrix_.iterated_as() != StoredScalar::own) {
        parts.copy = matrix_.iterated_as();
        parts.runs_on_matrix = runs_over(matrix_);
      }
      enqueued_ = cuda::make_enqueued_solve<S>(std::move(parts));
      enqueued_->iterated = iterated_;
      watched_.store(watch_.get());
    }
    return {b, x, in_place ? x : own(place.own_x), report};
  } else {
    throw Error(ErrorKind::unsupported,
                "enqueue needs a GPU, and float or double; `solve` runs everywhere");
  }
}

template <class S>
void KrylovSolver<S>::prepare_enqueue(const FieldView<const S>& b, const FieldView<S>& x,
                                      DeviceReport* report) {
  const auto target = target_of(b, x, report);
  enqueued_->prepare(target);
}

template <class S>
void KrylovSolver<S>::enqueue(const FieldView<const S>& b, const FieldView<S>& x,
                              DeviceReport* report) {
  const auto target = target_of(b, x, report);
  enqueued_->enqueue(target);
}

template <class S>
void KrylovSolver<S>::cancel() {
  device::LoopWatch* const watch = watched_.load();
  if (watch == nullptr) return;
  __atomic_store_n(&watch->cancel, int{device::loop_cancelled}, __ATOMIC_RELAXED);
}

template <class S>
std::vector<double> KrylovSolver<S>::enqueued_history() const {
  return enqueued_ ? enqueued_->history() : std::vector<double>();
}

#define HEDDLE_ENQUEUE(S)                                                                        \
  template void KrylovSolver<S>::prepare_enqueue(const FieldView<const S>&, const FieldView<S>&, \
                                                 DeviceReport*);                                 \
  template void KrylovSolver<S>::enqueue(const FieldView<const S>&, const FieldView<S>&,         \
                                         DeviceReport*);                                         \
  template void KrylovSolver<S>::cancel();                                                       \
  template void KrylovSolver<S>::forget_enqueued();                                              \
  template std::vector<double> KrylovSolver<S>::enqueued_history() const;
HEDDLE_ENQUEUE(float)
HEDDLE_ENQUEUE(double)
HEDDLE_IN_LONG_DOUBLE(HEDDLE_ENQUEUE(long double))
#undef HEDDLE_ENQUEUE

}  // namespace heddle
