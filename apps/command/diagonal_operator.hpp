// Diagonal matrices, such as lumped masses, used along with another matrix.
#pragma once

#include <vector>

#include "heddle/operator.hpp"

namespace heddle::cli {

/// `diagonal`: E::components scalars per row of `model`, in its basis, layout and memory, and in
/// the precision of `diagonal` itself.
template <class E>
Operator<E> diagonal_operator(const vector_scalar_t<E>* diagonal, const Operator<E>& model) {
  const Index rows = model.rows();
  std::vector<Offset> offsets(static_cast<std::size_t>(rows) + 1);
  std::vector<Index> column(static_cast<std::size_t>(rows));
  for (Index i = 0; i < rows; ++i) {
    offsets[static_cast<std::size_t>(i) + 1] = Offset(i) + 1;
    column[static_cast<std::size_t>(i)] = i;
  }
  CsrView<E> view;
  view.rows = view.columns = rows;
  view.offsets = OffsetsView(offsets.data());
  view.column = column.data();
  view.values = diagonal;
  view.device = model.device();
  Plan plan = model.plan();
  plan.layout.stored = StoredScalar::own;
  return Operator<E>(view, plan, model.row_basis());
}

}  // namespace heddle::cli
