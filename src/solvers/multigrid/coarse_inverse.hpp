// The inverse of a small sparse Hermitian matrix of tiles, as a dense one, and the mending of a
// coarse diagonal.
#pragma once

#include <span>

#include "solvers/tiles/tile_matrix.hpp"

namespace heddle::detail {

/// All tiles of the inverse of A, row by row; Hermitian and positive definite. If A is singular up
/// to `rounding`, relative to its diagonal, or to the `scale` of a row where that is larger (empty:
/// nowhere), rows on which the null space depends get their diagonal once more: the result inverts
/// A on A's range. Throws `Error`: unsupported if A is not positive semidefinite, not_finite.
TileMatrix coarse_inverse(const TileMatrix& a, double rounding);
/// Writes the same to `result`, which has values of such an inverse, or none yet. Allocates nothing
/// if `result` has them and `scratch` was used for an earlier inverse.
void invert(const TileMatrix& a, std::span<const double> scale, double rounding, TileMatrix& result,
            SetupScratch& scratch, const Stream& host);

/// A matrix of all tiles of `size` rows, row by row, without values yet.
TileMatrix full_matrix(Index size, const TileShape& shape);

/// Makes the diagonal tiles of a Galerkin product invertible: numbers of dropped candidates, and
/// those whose energy is at most `rounding` times `scale[row]`, get the energy `scale[row]`. Throws
/// `Error` (unsupported) if an energy is negative.
void mend_diagonal(TileMatrix& a, std::span<const double> scale, double rounding,
                   SetupScratch& scratch, const Stream& host);

}  // namespace heddle::detail
