// Block Jacobi: the inverses of diagonal blocks of consecutive entries, applied by a product.
#pragma once

#include <span>

#include "heddle/approximate_inverse.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// M^-1 is the inverse of A's block diagonal, over the ring of its entries. A block belongs to a
/// group of consecutive rows of the user's order, has any symmetry, and is stored densely in the
/// plan of A. M^-1 is Hermitian, or complex symmetric, if the blocks are so to half of their
/// digits, and positive definite if A is. A GPU computes the blocks of a matrix that it stores, and
/// renews them in stream order; natural groups are found by the host.
template <class S>
class HEDDLE_EXPORT BlockJacobi final : public detail::ApproximateInverse<S> {
 public:
  /// `matrix` is an operator over sliced storage; a handle to it is kept. `entries` is the side of
  /// a group; the last group may be shorter. A group has at most 32 scalar rows, so 32 real
  /// entries, 8 quaternions, 10 blocks of 3 x 3, or one entry. 0 selects natural groups: rows with
  /// the same columns, joined with their neighbours up to that limit (supervariable agglomeration,
  /// Anzt, Dongarra, Flegar and Quintana-Orti 2019, Parallel Computing 81). A row of zeros counts
  /// as one of the identity, and a block without inverse as the diagonal of its columns' largest
  /// numbers. Throws `Error`: usage for another
  /// number, unsupported for an entry without inverse, size_mismatch for a matrix that is not
  /// square, singular with the first block (its rows counted from 0 in the user's order) that is
  /// not finite or whose inverse overflows the stored scalars, memory where the inverse does not
  /// fit.
  explicit BlockJacobi(const detail::SlicedOperator<S>& matrix, int entries = 0);

  /// The first row of each group in the user's order, followed by the number of rows.
  std::span<const Index> groups() const;

  /// M^-1, in the operator's basis and layout.
  const detail::SlicedOperator<S>& inverse() const;
};

extern template class BlockJacobi<float>;
extern template class BlockJacobi<double>;
extern template class BlockJacobi<long double>;

}  // namespace heddle
