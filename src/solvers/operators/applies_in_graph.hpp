// Operators inside other objects that a graph may record.
#pragma once

#include "heddle/detail/product_cuda.hpp"
#include "heddle/linear_operator.hpp"

namespace heddle::detail {

/// True if the `apply` of an operator that another one, or a preconditioner, multiplies by may be
/// recorded in a graph. False for a dynamic schedule, whose counters belong to the stream.
template <class S>
bool applies_in_graph(const LinearOperator<S>& matrix) {
  if (const cuda::Product* product = matrix.product_on_gpu()) {
    return product->plan().schedule.kind != ScheduleKind::dynamic;
  }
  return matrix.is_capturable();
}

}  // namespace heddle::detail
