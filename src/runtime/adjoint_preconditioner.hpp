// The adjoint of a preconditioner that was made by its name.
#pragma once

#include <limits>
#include <memory>

#include "heddle/vector_operations.hpp"
#include "make_preconditioner.hpp"
#include "solvers/operators/operator_field.hpp"

namespace heddle {

/// True if A v = A* v but for rounding, for one patternless v.
template <class S>
bool seems_hermitian(const LinearOperator<S>& matrix, const LinearOperator<S>& adjoint) {
  const Stream stream = matrix.device().stream();
  const auto v = detail::row_field_of<S>(matrix), image = detail::row_field_of<S>(matrix),
             other = detail::row_field_of<S>(matrix);
  fill<S>(S(1), v.view, stream);
  randomize<S>(v.view, 1, stream);
  matrix.apply(S(1), v.view, S(0), image.view, stream);
  adjoint.apply(S(1), v.view, S(0), other.view, stream);
  Reduction<S> reduction(matrix.rows(), matrix.device());
  const auto size = real_dot<S>(image.view, image.view, reduction, stream);
  axpby<S>(S(-1), image.view, S(1), other.view, stream);
  const auto difference = real_dot<S>(other.view, other.view, reduction, stream);
  constexpr auto rounding = 1000 * std::numeric_limits<S>::epsilon();
  return difference <= rounding * rounding * size;
}

/// M^-*, where M was made for the matrix by `choice`; null: M = I. It is M itself if that and the
/// matrix are Hermitian, and otherwise made from A*. Throws `Error` (unsupported) for parts that
/// A* does not define so, and for a matrix that has no adjoint.
template <class S>
std::shared_ptr<Preconditioner<S>> adjoint_of(const std::shared_ptr<Preconditioner<S>>& made,
                                              const OperatorReference<S>& matrix,
                                              const ComposedChoice& choice) {
  if (!made) return nullptr;
  const auto adjoint = matrix->adjoint();
  if (choice.is_hermitian() && made->is_constant() && seems_hermitian<S>(*matrix, *adjoint)) {
    return made;
  }
  if (!choice.is_of_adjoint()) {
    throw Error(ErrorKind::unsupported,
                "the preconditioner " + choice.text() +
                    " of this matrix has no adjoint here; make one of the adjoint matrix");
  }
  return make_preconditioner<S>(adjoint, choice.reversed());
}

}  // namespace heddle
