// The Jacobi preconditioner: the inverse of each diagonal entry, from the left.
#pragma once

#include "heddle/detail/sliced_jacobi.hpp"
#include "heddle/export.hpp"
#include "heddle/operator.hpp"

namespace heddle {

template <class E>
class HEDDLE_EXPORT Jacobi final : public detail::SlicedJacobi<vector_scalar_t<E>> {
  static_assert(has_inverse<E>, "Jacobi: 'inverse(a)' of the entry is missing");

 public:
  using scalar = vector_scalar_t<E>;

  /// Keeps a handle of the operator. A diagonal entry that is missing, or has no inverse, counts as
  /// one with a 1 for each zero on its own diagonal, or else as a unit of its size. Throws `Error`
  /// (singular) that names the first row, counted from 0 in the user's order, whose diagonal entry
  /// is not finite.
  explicit Jacobi(const Operator<E>& matrix, Refresh refresh = Refresh::each_launch)
      : detail::SlicedJacobi<scalar>(matrix, refresh) {}
};

}  // namespace heddle
