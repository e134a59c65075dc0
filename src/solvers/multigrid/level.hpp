// The data of one level of a multigrid: matrices of tiles on the host, to compute it with, and
// operators on the device, which a cycle multiplies by.
#pragma once

#include <cstddef>
#include <memory>
#include <optional>
#include <vector>

#include "coloured_rows.hpp"
#include "heddle/detail/sliced_jacobi.hpp"
#include "heddle/polynomial.hpp"
#include "solvers/cycles/number_cycle.hpp"
#include "solvers/tiles/level_spectrum.hpp"
#include "solvers/tiles/tile_products.hpp"

namespace heddle::detail {

/// An entry of a level, and its numbers.
template <class S>
struct LevelEntry {
  EntryTableHandle<S> table;
  EntryTiles tiles;
};

/// Entries of the finest level, of P from the next one to it, and of the coarser levels.
template <class S>
struct LevelEntries {
  LevelEntry<S> finest, between, coarse;

  /// The tile of a row of the finest level whose columns are candidates.
  TileShape candidates() const { return {finest.tiles.size, coarse.tiles.size, finest.tiles.ring}; }
};

/// The entries for a matrix with `candidates` candidates, 0 for the constants. Throws `Error`
/// (unsupported) for an entry, or a number of candidates, that has no levels.
template <class S>
LevelEntries<S> level_entries(const SlicedOperator<S>& matrix, std::size_t candidates);

/// True if the plan stores floats: only such a plan has refused values outside their range.
template <class S>
bool keeps_floats(const SlicedOperator<S>& matrix) {
  return matrix.plan().layout.stored == StoredScalar::single && matrix.entry().narrow != nullptr;
}

/// The smoother of a level, and the values that it is made of.
template <class S>
struct LevelSmoother {
  std::shared_ptr<SlicedJacobi<S>> jacobi;
  std::shared_ptr<Preconditioner<S>> before, after;  // each the adjoint of the other
  std::shared_ptr<Chebyshev<S>> polynomial;          // both are made of it; or null
  std::optional<SpectralInterval> interval;          // the polynomial's, if there is one
  std::shared_ptr<FirstNumbers<S>> first_numbers;    // the polynomial's, if a `NumberCycle` runs it
  Array<Coefficient<Ring::real, S>> numbers;         // numbers of its recurrence, in A's memory
  ColouredRows colours;                              // for Gauss-Seidel
  std::shared_ptr<ColouredOperators<S>> sweeps;
  TileMatrix norms, norm_inverses;  // D plus off-diagonal norms, for l1-Jacobi
  std::shared_ptr<SlicedOperator<S>> by_norms;
  UnsetArray<double> inverses;  // inverses of the diagonal's tiles
  double largest = 0;           // largest eigenvalue of D^-1 A
  int new_estimates = 0;        // times it was estimated anew since the set-up
  std::optional<SpectrumWorkspace> spectrum;
};

/// The matrices between a level and the next coarser one.
template <class S>
struct LevelTransfer {
  TileMatrix tentative, prolongation, image, restriction;  // image: A P
  ProductPlaces to_prolongation, to_image, to_coarse;      // for A T, A P and P* A P
  Array<Offset> place;                                     // place of P's tiles in the restriction
  Array<double> diagonal, scales;                          // see `energy_scales`
  std::shared_ptr<SlicedOperator<S>> interpolate, restrict;
  LevelEntry<S> adjoint_entry;  // entry of `restrict`
};

/// Tiles have pattern and values if the host computes.
template <class S>
struct Level {
  int number = 0;  // counted from the finest
  Index rows = 0;
  Offset entries = 0;
  LevelEntry<S> entry;
  TileMatrix matrix;
  std::shared_ptr<SlicedOperator<S>> product;
  LevelSmoother<S> smoother;  // empty if the level is solved
  double strength = 0;        // strength that aggregated its rows
  LevelTransfer<S> transfer;  // empty on the coarsest level
  // For a level that is solved.
  TileMatrix inverse_tiles;
  std::shared_ptr<SlicedOperator<S>> inverse;
};

/// From the finest.
template <class S>
using LevelList = std::vector<std::unique_ptr<Level<S>>>;

}  // namespace heddle::detail
