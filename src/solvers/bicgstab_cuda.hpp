// BiCGStab that runs on a GPU from the first iteration to the last.
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
struct BiCGStabFields {
  FieldView<S> x, r, shadow, p, v, t;
  FieldView<S> p_hat, s_hat;  // as p and r without a preconditioner
};

template <class S>
class BiCGStabLoop {
 public:
  virtual ~BiCGStabLoop() = default;

  /// From r = b - A x, of this squared norm. However the run ends, r is the residual of the
  /// recurrence that belongs to x. All fields but x and r are the same ones in every run.
  virtual RunResult run(const BiCGStabFields<S>& fields, double squared_norm,
                        const RunLimits& limits) = 0;

  /// Queues a run from the limits and squared norm (also in rho) that `*state` has by then, on a
  /// stream that is being captured: the graph may be launched any number of times, one at a time
  /// and not beside `run`.
  virtual void capture_run(const BiCGStabFields<S>& fields, device::LoopState* state,
                           const Stream& capturing) = 0;
};

/// Five kernels an iteration in a graph, with coefficients of `ring`, in which `product` sums, and
/// two preconditionings. What they need must be up to date. `form` is graph or replay.
template <class S>
std::unique_ptr<BiCGStabLoop<S>> bicgstab_graph(std::unique_ptr<QueuedProduct<S>> product,
                                                LoopPreconditioner<S> preconditioner, Ring ring,
                                                LoopForm form, const Device& device);

/// What that will allocate.
template <class S>
Workspace workspace_of_bicgstab_graph(const QueuedProduct<S>& product, Ring ring);

/// One kernel for the whole run, of x and r alone: for matrices that fill a GPU only for
/// microseconds. Throws `Error` (bad_plan) if the plan's slices or the GPU do not allow it.
template <class S>
std::unique_ptr<BiCGStabLoop<S>> bicgstab_persistent(const Product& product,
                                                     const Diagonal* diagonal, Ring ring,
                                                     const Device& device);

}  // namespace heddle::cuda
