// Checks and fields of preconditioners that multiply by an operator: requirements on the operator
// and the parts, and the fields that they work in.
#pragma once

#include <string>
#include <vector>

#include "heddle/linear_operator.hpp"
#include "heddle/preconditioner.hpp"
#include "solvers/operators/operator_checks.hpp"

namespace heddle::detail {

template <class S>
FieldShape shape_of(const LinearOperator<S>& matrix) {
  return {matrix.rows(), matrix.row_components(), matrix.row_basis(), matrix.vector_layout(),
          matrix.device().stream().gpu};
}

template <class S>
FieldView<S> make_field(const LinearOperator<S>& matrix, std::vector<Array<S>>& storage) {
  storage.emplace_back(
      static_cast<std::size_t>(matrix.rows()) * static_cast<std::size_t>(matrix.row_components()),
      matrix.device());
  return {storage.back().data(), matrix.rows(), matrix.row_components(), matrix.vector_layout(),
          matrix.row_basis()};
}

template <class S>
void check_fields(const FieldView<const S>& r, const FieldView<S>& z, const FieldView<S>& own,
                  const char* who) {
  check_same_shape(r, own, who);
  check_same_shape(z, own, who);
  check_apart(r, z, "r", "z");
  if (!in_basis(r.basis, own.basis) || !in_basis(z.basis, own.basis)) {
    throw Error(ErrorKind::size_mismatch,
                std::string(who) + ": a field is in another basis; `permute` takes it there");
  }
}

template <class S>
void check_parts(const LinearOperator<S>& matrix, const Preconditioner<S>* inner,
                 const std::string& who) {
  check_square(matrix, who.c_str());
  if (inner == nullptr) return;
  check_fits(*inner, matrix);
  if (!inner->is_constant()) {
    throw Error(ErrorKind::unsupported,
                who + " needs a constant inner preconditioner, and this one says that it varies");
  }
}

}  // namespace heddle::detail
