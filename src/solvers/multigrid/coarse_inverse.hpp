// The inverse of a small sparse Hermitian matrix of tiles, as a dense one.
#pragma once

#include <span>

#include "solvers/tiles/tile_matrix.hpp"

namespace heddle::detail {

/// Tiles of the inverse of A, all of them, row by row; Hermitian and positive definite. Where A is
/// singular, relative to its diagonal, or to the `scale` of a row where that is more (empty:
/// nowhere), and up to `rounding`, rows on which the null space depends get their diagonal once
/// more: the result inverts A for what A can yield. Throws `Error`: unsupported where A is not
/// positive semidefinite, not_finite.
TileMatrix coarse_inverse(const TileMatrix& a, double rounding);
/// The same into `result`, which has values of such an inverse, or none yet. Allocates nothing
/// where it has them and `scratch` is that of an earlier one.
void invert(const TileMatrix& a, std::span<const double> scale, double rounding, TileMatrix& result,
            SetupScratch& scratch, const Stream& host);

/// Of all tiles of so many rows, row by row, without values yet.
TileMatrix full_matrix(Index size, const TileShape& shape);

/// Makes the diagonal tiles of a Galerkin product invertible: numbers of dropped candidates, and
/// those whose energy is at most `rounding` of `scale[row]`, get the energy `scale[row]`. Throws
/// `Error` (unsupported) where an energy is negative.
void mend_diagonal(TileMatrix& a, std::span<const double> scale, double rounding,
                   SetupScratch& scratch, const Stream& host);

}  // namespace heddle::detail
