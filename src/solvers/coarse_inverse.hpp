// The inverse of a small sparse Hermitian matrix of tiles, as a dense one.
#pragma once

#include "tile_matrix.hpp"

namespace heddle::detail {

/// Tiles of the inverse of A, all of them, row by row. Where A is singular, relative to its
/// diagonal and up to `rounding`, a generalized inverse Z Z* with Z* A Z = 1 takes its place: it
/// inverts A for what A can yield. Throws `Error`: unsupported where A is not positive
/// semidefinite, not_finite.
TileMatrix coarse_inverse(const TileMatrix& a, double rounding);

/// Makes the diagonal tiles of a Galerkin product invertible: numbers of dropped candidates, and
/// those whose energy is at most `rounding` of `scale[row]`, get the energy `scale[row]`. Throws
/// `Error` (unsupported) where an energy is negative.
void mend_diagonal(TileMatrix& a, std::span<const double> scale, double rounding,
                   const Stream& host);

}  // namespace heddle::detail
