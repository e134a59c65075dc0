// The inverse of a small sparse Hermitian matrix of tiles, as a dense one.
#pragma once

#include "tile_matrix.hpp"

namespace heddle::detail {

/// Tiles of the inverse of A, all of them, row by row. Where A is singular, to ten digits, a
/// generalized inverse Z Z* with Z* A Z = 1 takes its place: it inverts A for what A can yield.
/// Throws `Error`: unsupported where A is not positive semidefinite, not_finite.
TileMatrix coarse_inverse(const TileMatrix& a);

/// Makes the diagonal tiles of a Galerkin product invertible: numbers of dropped candidates, and
/// those in which the energy has vanished to ten digits, get the energy `scale[row]`.
void mend_diagonal(TileMatrix& a, std::span<const double> scale, const Stream& host);

}  // namespace heddle::detail
