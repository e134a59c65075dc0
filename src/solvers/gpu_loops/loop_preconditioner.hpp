// How a loop that lives on a GPU gets z = M^-1 r, and in which form it can then run.
#pragma once

#include <functional>

#include "heddle/detail/product_cuda.hpp"
#include "heddle/linear_operator.hpp"
#include "heddle/plan.hpp"
#include "heddle/preconditioner.hpp"
#include "heddle/row_preconditioner.hpp"
#include "ranks_in_loop.hpp"

namespace heddle {

namespace cuda {

template <class S>
struct LoopPreconditioner {
  const RowPreconditioner* rows = nullptr;  // applied by the loop's own kernels
  /// Separate work between those kernels: it only queues, so that a graph can hold it. Empty with
  /// `rows`, and if z is r.
  std::function<void(const FieldView<const S>& r, const FieldView<S>& z, const Stream&)> queue;
};

}  // namespace cuda

namespace detail {

/// True if the kernels of a loop apply it themselves; a null space is projected out between them.
template <class S>
bool is_fused(const Preconditioner<S>& preconditioner, bool has_null_space) {
  return preconditioner.rows_on_gpu() != nullptr && !has_null_space;
}

/// The form of the loop under a plan that asks for `planned`; `preconditioner` is null for none.
template <class S>
LoopForm form_of_loop(LoopForm planned, const Preconditioner<S>* preconditioner,
                      bool has_null_space) {
  if (planned == LoopForm::stepped || preconditioner == nullptr) return planned;
  if (!preconditioner->is_capturable()) return LoopForm::stepped;
  if (planned != LoopForm::persistent) return planned;
  // One kernel for the whole solve knows only diagonals, and has no place for other work.
  const bool is_diagonal = is_fused(*preconditioner, has_null_space) &&
                           preconditioner->rows_on_gpu()->inverses() != nullptr;
  return is_diagonal ? planned : LoopForm::graph;
}

/// Same, over an operator: its plan's form, or a graph if it has no plan and only queues work.
/// Hosts of ranks meet after each launch of a graph.
template <class S>
LoopForm form_of_loop(const LinearOperator<S>& matrix, const Preconditioner<S>* preconditioner,
                      bool has_null_space) {
  LoopForm planned = LoopForm::stepped;
  if (const cuda::Product* product = matrix.product_on_gpu()) {
    planned = product->plan().loop.form;
  } else if (matrix.device().on_gpu() && matrix.is_capturable()) {
    planned = LoopForm::graph;
  } else if (cuda::are_captured(matrix)) {
    // The projection of a null space meets on the hosts, and so do some preconditioners.
    const bool meets_in_kernels = preconditioner == nullptr ||
                                  is_fused(*preconditioner, has_null_space) ||
                                  (!has_null_space && preconditioner->is_capturable());
    planned = meets_in_kernels ? LoopForm::replay : LoopForm::stepped;
  }
  return form_of_loop(planned, preconditioner, has_null_space);
}

}  // namespace detail

}  // namespace heddle
