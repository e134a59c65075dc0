// Heddle's own product for a problem under a plan, with everything prepared.
#pragma once

#include <functional>
#include <memory>
#include <utility>
#include <vector>

#include "heddle/linear_operator.hpp"
#include "heddle/plan.hpp"
#include "heddle/vector_operations.hpp"
#include "problems/problem.hpp"

namespace heddle::bench {

struct OwnProduct {
  /// Queues the product once more, in the basis and layout of the plan, as solvers do.
  std::function<void(const Stream&)> queue;
  /// y of the last run, in the user's order.
  std::function<std::vector<double>()> result;
  long long memory_bytes = 0;  // bytes of the matrix that a product reads
};

/// Throws `Error` where the plan does not suit the matrix or memory does not suffice.
OwnProduct own_product(const Problem& problem, const Plan& plan, const Device& device);

/// y = A x for any operator over fields of entries E.
template <class E>
OwnProduct product_by(std::shared_ptr<const LinearOperator<vector_scalar_t<E>>> A,
                      const std::vector<double>& x) {
  using S = vector_scalar_t<E>;
  struct Prepared {
    std::shared_ptr<const LinearOperator<S>> A;
    Field<E> x, y;
  };
  const Device device = A->device();
  auto prepared = std::make_shared<Prepared>(
      Prepared{A, Field<E>(A->columns(), device, A->vector_layout(), A->column_basis()),
               Field<E>(A->rows(), device, A->vector_layout(), A->row_basis())});
  Field<E> user(A->columns());
  for (std::size_t i = 0; i < x.size(); ++i) user.scalars()[i] = static_cast<S>(x[i]);
  permute<S>(user, prepared->x, S(1), device.stream());
  device.synchronize();
  OwnProduct product;
  product.queue = [prepared](const Stream& stream) {
    prepared->A->apply(S(1), std::as_const(prepared->x).view(), S(0), prepared->y.view(), stream);
  };
  product.result = [prepared, device] {
    Field<E> of_user(prepared->A->rows());
    permute<S>(prepared->y, of_user, S(1), device.stream());
    device.synchronize();
    return std::vector<double>(of_user.scalars().begin(), of_user.scalars().end());
  };
  return product;
}

}  // namespace heddle::bench
