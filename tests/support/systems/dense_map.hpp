// Any action on the fields of an operator, as a dense matrix.
#pragma once

#include <Eigen/Dense>

#include "heddle/operator.hpp"
#include "heddle/preconditioner.hpp"
#include "systems.hpp"

namespace heddle::test {

using DenseMap = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;

/// The real expansion of `apply`, in the user's order.
template <class E, class Apply>
DenseMap dense_map(const Operator<E>& A, const Apply& apply) {
  constexpr int K = vector_entry_t<E>::components;
  DenseMap dense(A.rows() * K, A.rows() * K);
  Field<E> x = A.field(), y = A.field();
  for (Index j = 0; j < A.rows(); ++j) {
    for (int k = 0; k < K; ++k) {
      const Index at = A.column_basis()->position(j);
      x.view().at(at, k) = 1;
      apply(x.view(), y.view());
      x.view().at(at, k) = 0;
      dense.col(j * K + k) = components_of<long double>(y);
    }
  }
  return dense;
}
template <class E>
DenseMap dense_of(const Operator<E>& A, const Preconditioner<vector_scalar_t<E>>& preconditioner) {
  return dense_map(
      A, [&](const auto& x, const auto& y) { preconditioner.apply(x, y, A.device().stream()); });
}

}  // namespace heddle::test
