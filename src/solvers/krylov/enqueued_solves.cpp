#include "enqueued_solves.hpp"

#include <utility>

#include "base/device_cuda.hpp"
#include "base/long_double.hpp"
#include "krylov_parts.hpp"
#include "method_rows.hpp"
#include "solvers/gpu_loops/queued_product_cuda.hpp"

namespace heddle::detail {

namespace {

/// Throws `Error` unless a solve of these can be enqueued.
template <class S>
void check_can_enqueue(const KrylovParts<S>& solver, const FieldView<const S>& b,
                       const FieldView<S>& x, DeviceReport* report) {
  const SolverInputs<S>& inputs = solver.inputs;
  const LoopCache<S>& loops = solver.loops;
  const Stream& stream = inputs.stream;
  const auto check = [](bool can, ErrorKind kind, const char* why) {
    if (!can) throw Error(kind, why);
  };
  check(stream.share == nullptr, ErrorKind::unsupported,
        "enqueue: hosts of ranks synchronize during a solve and cannot leave it to the GPU");
  check(inputs.device.on_gpu() && loops.form(loops.iterated()) != LoopForm::stepped &&
            loops.form(inputs.matrix) != LoopForm::stepped,
        ErrorKind::unsupported,
        "enqueue needs a loop that runs on a GPU: an operator there whose plan says loop=graph or "
        "loop=persistent, or that only queues work, and a preconditioner that only queues work");
  check(!inputs.options.observer, ErrorKind::unsupported,
        "enqueue calls no observer; `cancel` ends a solve, `enqueued_history` describes it");
  check(solver.fields.first().residual.scalars() == 0 ||
            (cuda::is_device_memory(b.data, stream) && cuda::is_device_memory(x.data, stream)),
        ErrorKind::usage,
        "enqueue takes a right-hand side and a solution in the GPU's memory; copy them there "
        "first");
  check(cuda::is_writable(report, stream), ErrorKind::usage,
        "enqueue takes a report in the GPU's memory, or in pinned memory of the host");
}

template <class S>
cuda::SolveRuns<S> runs_over(const LinearOperator<S>& matrix, KrylovParts<S>& solver) {
  MethodLoop<S>& loop = solver.loops.over(matrix);
  const auto capture = [r = solver.fields.first().residual, &loop](const FieldView<S>& from,
                                                                   device::LoopState* state,
                                                                   const Stream& capturing) {
    loop.capture_run(from, r, state, capturing);
  };
  return {cuda::make_queued_product(matrix), capture, loop.can_be_skipped()};
}

template <class S>
cuda::SolveParts<S> parts_of_solve(KrylovParts<S>& solver,
                                   std::shared_ptr<device::LoopWatch> watch) {
  const SolverInputs<S>& inputs = solver.inputs;
  const LinearOperator<S>&matrix = inputs.matrix, &iterated = solver.loops.iterated();
  auto& place = solver.fields.first();
  cuda::SolveParts<S> parts;
  parts.product = cuda::make_queued_product(matrix);
  if (inputs.preconditioner && inputs.preconditioner->refreshes_in_graph()) {
    parts.refreshed = inputs.preconditioner.get();
  }
  parts.preconditioner = solver.loops.preconditioner();
  parts.projection = solver.null_space.projection();
  parts.device = inputs.device;
  parts.options = inputs.options;
  if (solver.has_image_of_guess(1)) parts.image = solver.image_of_guess;
  parts.b = solver.fields.own(place.own_b);
  parts.r = place.residual;
  parts.kept = place.verified;
  parts.scratch = place.kept;
  parts.needs_positive_matrix = inputs.method.info.needs_positive;
  parts.continues_runs =
      method_rows::continues_runs(inputs.method.info, solver.loops.form(iterated));
  parts.unwatched = solver.loops.unwatched_iterations(solver.loops.bytes_per_iteration());
  parts.given = solver.steps.on_device();
  parts.watch = std::move(watch);
  parts.runs = runs_over(iterated, solver);
  if (&iterated != &matrix && matrix.iterated_as() != StoredScalar::own) {
    parts.copy = matrix.iterated_as();
    parts.runs_on_matrix = runs_over(matrix, solver);
  }
  return parts;
}

}  // namespace

template <class S>
void EnqueuedSolves<S>::forget() {
  if (solve_) solver_.inputs.device.synchronize();  // it may be running
  solve_.reset();
}

template <class S>
cuda::SolveTarget<S> EnqueuedSolves<S>::target_of(const FieldView<const S>& b,
                                                  const FieldView<S>& x, DeviceReport* report) {
  if constexpr (may_be_on_gpu<S>) {
    auto& place = solver_.fields.first();
    check_same_shape(b, place.residual, "the right-hand side");
    check_same_shape(x, place.residual, "the solution");
    check_apart(b, x, "the right-hand side", "the solution");
    const LinearOperator<S>& iterated = solver_.inputs.matrix.iterated();
    solver_.loops.iterate_by(iterated);  // the last `solve` may have set another
    check_can_enqueue(solver_, b, x, report);
    const bool in_place = solver_.fields.fits_in_place(x);
    const bool captured = cuda::is_being_captured(solver_.inputs.stream);
    const bool is_of_another = solve_ && solve_->iterated != &iterated;
    if (!captured && is_of_another) forget();
    if (captured && (is_of_another || !(solve_ && (in_place || place.own_x)))) {
      throw Error(ErrorKind::usage, cuda::not_prepared);
    }
    if (!captured) {
      const auto& preconditioner = solver_.inputs.preconditioner;
      if (preconditioner &&
          (!preconditioner->refreshes_in_graph() || solver_.steps.needs_estimate())) {
        preconditioner->refresh();
      }
      solver_.loops.apply_foreign_work_once();
      solver_.steps.refresh();
      solver_.steps.copy_to_device();
    }
    if (!solve_) {
      solver_.await_kernels();
      if (!watch_) watch_ = cuda::make_loop_watch(solver_.inputs.stream);
      solve_ = cuda::make_enqueued_solve<S>(parts_of_solve(solver_, watch_));
      solve_->iterated = &iterated;
      watched_.store(watch_.get());
    }
    return {b, x, in_place ? x : solver_.fields.own(place.own_x), report};
  } else {
    throw Error(ErrorKind::unsupported,
                "enqueue needs a GPU, and float or double; `solve` runs everywhere");
  }
}

template class EnqueuedSolves<float>;
template class EnqueuedSolves<double>;
HEDDLE_IN_LONG_DOUBLE(template class EnqueuedSolves<long double>;)

}  // namespace heddle::detail
