// The largest eigenvalue of D^-1 A on a level of a multigrid, D the diagonal of A, on the host.
#pragma once

#include <span>

#include "heddle/detail/reduction.hpp"
#include "tile_matrix.hpp"

namespace heddle::detail {

/// Relative to what a matrix is made of: a number further below zero is no rounding error, neither
/// of floats nor of decimals in a file.
inline constexpr double min_energy = -1e-5;

/// Number of steps of an estimate.
inline constexpr int eigenvalue_steps = 12;

/// The memory that an estimate works in, for a matrix of this size.
struct SpectrumWorkspace {
  UnsetArray<double> storage;  // four fields
  Reduction<double> reduction;
  // A number for each row, from when the eigenvalue was last estimated.
  UnsetArray<double> reach, balance;
  bool has_balance = false;

  SpectrumWorkspace(const TileMatrix& a, const Device& host);
};

/// Takes 12 steps of Lanczos' method, so the estimate lies below the eigenvalue; the same bits for
/// any number of threads. `inverse`: the tiles of D^-1. `scale`: the magnitudes that the energies
/// of each row were made of (`energy_scales`), empty for D; it limits how far below zero rounding
/// may have brought an eigenvalue. Throws `Error`: unsupported if A or D is not positive
/// semidefinite, as far as the steps show; not_finite.
double largest_eigenvalue(const TileMatrix& a, const UnsetArray<double>& inverse,
                          std::span<const double> scale, SpectrumWorkspace& workspace,
                          const Device& host);
double largest_eigenvalue(const TileMatrix& a, const UnsetArray<double>& inverse,
                          const Device& host);

/// True if D^-1 A may have an eigenvalue above `bound` with new values: if the reach of a row, 1 +
/// sum_{j != i} |D_i^-1 a_ij| in Frobenius norms, exceeds `bound`, and either it has grown by more
/// than a twentieth since `workspace.reach` was set, or entries of that row have changed their
/// signs: `workspace.balance`, a sum of the traces of D_i^-1 a_ij with signs that belong to the
/// columns, has moved by more than a tenth of the reach. No eigenvalue exceeds the largest reach
/// (Gershgorin's circles, for blocks). Costs a tile product per entry. With `is_new` it sets both
/// and returns true.
bool may_exceed(const TileMatrix& a, const UnsetArray<double>& inverse, double bound, bool is_new,
                SpectrumWorkspace& workspace, const Device& host);

[[noreturn]] void refuse_indefinite();
[[noreturn]] void refuse_not_finite();

}  // namespace heddle::detail
