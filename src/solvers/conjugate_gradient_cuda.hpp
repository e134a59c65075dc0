// Conjugate gradient that runs on a GPU from the first iteration to the last.
#pragma once

#include <memory>

#include "heddle/diagonal_cuda.hpp"
#include "heddle/field.hpp"
#include "heddle/product_cuda.hpp"
#include "heddle/workspace.hpp"
#include "loop_preconditioner.hpp"
#include "queued_product_cuda.hpp"
#include "run.hpp"

namespace heddle::cuda {

/// Fields of the operator's basis and layout, all alike.
template <class S>
struct ConjugateGradientFields {
  FieldView<S> x, r, p, q;
  FieldView<S> z;  // as r without a preconditioner
};

template <class S>
class ConjugateGradientLoop {
 public:
  virtual ~ConjugateGradientLoop() = default;

  /// From r = b - A x. The preconditioner must be up to date.
  virtual RunResult run(const ConjugateGradientFields<S>& fields, const RunLimits& limits) = 0;

  /// Queues a run from the limits that `*state` has by then, on a stream that is being captured:
  /// the graph may be launched any number of times, one at a time and not beside `run`.
  virtual void capture_run(const ConjugateGradientFields<S>& fields, device::LoopState* state,
                           const Stream& capturing) = 0;
};

/// Three kernels an iteration in a graph, or with one reduction two: matrices of any size. With a
/// preconditioner that is work of its own, that and four kernels, and always two reductions. `form`
/// is graph or replay.
template <class S>
std::unique_ptr<ConjugateGradientLoop<S>> conjugate_gradient_graph(
    std::unique_ptr<QueuedProduct<S>> product, LoopPreconditioner<S> preconditioner, LoopForm form,
    const Device& device);

/// What that will allocate; `diagonal` is null where the preconditioner has none, `foreign` if it
/// is work of its own.
template <class S>
Workspace workspace_of_conjugate_gradient_graph(const QueuedProduct<S>& product,
                                                const Diagonal* diagonal, bool foreign);

/// One kernel for the whole run: for matrices that fill a GPU only for microseconds. Throws `Error`
/// (bad_plan) if the plan's slices or the GPU do not allow it.
template <class S>
std::unique_ptr<ConjugateGradientLoop<S>> conjugate_gradient_persistent(const Product& product,
                                                                        const Diagonal* diagonal,
                                                                        const Device& device);

}  // namespace heddle::cuda
