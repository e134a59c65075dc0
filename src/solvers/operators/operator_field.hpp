// The counterpart of `Field<E>` where the type of an entry is not known: zero fields in an
// operator's layout, basis and memory.
#pragma once

#include <memory>
#include <utility>

#include "heddle/linear_operator.hpp"

namespace heddle::detail {

template <class S>
struct OperatorField {
  Array<S> scalars;
  FieldView<S> view;

  OperatorField(Index rows, int components, const LinearOperator<S>& matrix,
                std::shared_ptr<const Basis> basis)
      : scalars(static_cast<std::size_t>(rows) * static_cast<std::size_t>(components),
                matrix.device()),
        view(scalars.data(), rows, components, matrix.vector_layout(), std::move(basis)) {}
};

template <class S>
OperatorField<S> row_field_of(const LinearOperator<S>& matrix) {
  return {matrix.rows(), matrix.row_components(), matrix, matrix.row_basis()};
}
template <class S>
OperatorField<S> column_field_of(const LinearOperator<S>& matrix) {
  return {matrix.columns(), matrix.column_components(), matrix, matrix.column_basis()};
}

}  // namespace heddle::detail
