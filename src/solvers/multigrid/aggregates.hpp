// Aggregates of strongly connected rows (Vanek, Mandel and Brezina 1996, Computing 56), the
// tentative prolongation from the near-null candidates on each, and its smoothing.
#pragma once

#include <algorithm>
#include <span>

#include "solvers/tiles/tile_matrix.hpp"

namespace heddle::detail {

/// Aggregates are numbered in the order of their roots.
struct Aggregates {
  static constexpr Index none = -1;

  Index count = 0;
  Index left = 0;   // rows in no aggregate though off-diagonal norms exceed half their diagonal's
  Array<Index> of;  // aggregate of each row; `none` if it has no strong connections
};

/// Norms of a level's entries, relative to a power of two; they serve any number of strengths.
struct EntryNorms {
  UnsetArray<double> squared;            // squared Frobenius norm of each entry
  UnsetArray<double> diagonal;           // norm of each row's diagonal entry
  UnsetArray<unsigned char> is_coupled;  // true if neighbours outweigh half the diagonal
};
/// The power of two to multiply entries of at most this size by, so that their squares stay in
/// range. It avoids the ends of the range, so that multiplying by its inverse is a division.
double inverse_scale(double largest);
EntryNorms entry_norms(const TileMatrix& a, const Stream& host);

/// Squared norms below this, relative to the rows' diagonals, are rounding after cancellation.
inline constexpr double min_squared = 1e-28;
/// Norms that differ by a smaller factor count as equal: the first is taken, despite rounding.
inline constexpr double likeness_of_norms = 1 + 1e-9;

/// Aggregates roots and their neighbours, among rows that are `none` before. `neighbours(row)`: the
/// columns of the row's strong connections. Returns the number of aggregates.
template <class Neighbours>
Index take_roots(Index rows, const Neighbours& neighbours, Index* of) {
  Index count = 0;
  const auto is_free = [of](Index row) { return of[row] == Aggregates::none; };
  for (Index row = 0; row < rows; ++row) {
    if (!is_free(row)) continue;
    const std::span<const Index> others = neighbours(row);
    if (others.empty() || !std::all_of(others.begin(), others.end(), is_free)) continue;
    of[row] = count;
    for (const Index other : others) of[other] = count;
    ++count;
  }
  return count;
}

/// Rows i and j are strongly connected where |a_ij|^2 > strength^2 |a_ii| |a_jj| in Frobenius
/// norms. Roots are the lexicographically first set of rows that are more than two connections
/// apart, which is what the greedy pass of Vanek et al. finds. A root takes its neighbours; every
/// remaining row joins the aggregate to which it is connected most strongly, or, if several
/// connections are equally strong, that of the lowest column. A is Hermitian.
Aggregates aggregate(const TileMatrix& a, const EntryNorms& norms, double strength,
                     const Stream& host);

/// T and the candidates of the coarse rows: T R = B, and T* T = 1 except for dropped columns. B has
/// a tile of `width` columns for each row of the aggregates, and becomes R, of width x width tiles.
/// A column that depends on others within its aggregate, to rounding, is dropped: it is 0 in T, and
/// its row in R is 0. Candidates are combined by coefficients from the right.
TileMatrix tentative_prolongation(const Aggregates& aggregates, const TileShape& shape,
                                  UnsetArray<double>& candidates, const Stream& host);

/// P = T - omega D^-1 (A T), where `p` holds A T on its pattern, and `inverse` the tiles of D^-1.
void smooth_prolongation(const UnsetArray<double>& inverse, double omega, const TileMatrix& t,
                         TileMatrix& p, SetupScratch& scratch, const Stream& host);

/// For each coarse row, the energy that its column of P would have in the diagonal of A alone:
/// energies of P* A P are small compared with it. `below` has these scales for A's rows, and is
/// empty on the finest level: an energy of A has the rounding of what it was computed from, which
/// may be much more than what is left. `diagonal` has room for a number for each row.
void energy_scales(const TileMatrix& a, std::span<const double> below,
                   const TileMatrix& restriction, Array<double>& diagonal, Array<double>& scales,
                   const Stream& host);

}  // namespace heddle::detail
