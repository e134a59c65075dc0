// Values of a hierarchy's levels, computed by the GPU: the data that `HierarchySetup` keeps on
// the host, in the GPU's memory.
#pragma once

#include <vector>

#include "aggregates_cuda.hpp"
#include "base/cuda_call.hpp"
#include "base/unset_array.hpp"
#include "heddle/multigrid.hpp"
#include "level.hpp"
#include "setup_values_cuda.hpp"
#include "solvers/tiles/tile_patterns_cuda.hpp"
#include "solvers/tiles/tile_values_cuda.hpp"
#include "stored_rows_cuda.hpp"

namespace heddle::cuda {

/// Values of the matrix that levels are computed from.
struct StoredValues {
  const std::byte* data;
  int scalar_bytes;
};

template <class S>
class LevelValues {
 public:
  using Level = heddle::detail::Level<S>;
  using Levels = heddle::detail::LevelList<S>;

  /// Makes room for the finest level alone. Throws `Error` (memory).
  LevelValues(const heddle::detail::SlicedOperator<S>& matrix, const Levels& levels,
              const StoredValues& source);

  /// Bytes of all that it keeps.
  long long bytes() const;

  // For a set-up, level by level, each once its own values are known.
  /// A tile for each row of the finest level.
  void take_candidates(Array<double> candidates);
  /// To be called after the last level.
  void drop_candidates();
  void read_matrix();
  void invert_diagonal(std::size_t number);
  void find_norms(std::size_t number);
  /// Aggregates by the norms that were found last, with `of` on the GPU.
  heddle::detail::Aggregates aggregate(std::size_t number, double strength);
  /// Makes the tentative prolongation, the patterns of the next level and of all between it and
  /// this one. Throws like the constructor.
  void find_patterns(std::size_t number, const heddle::detail::Aggregates& aggregates,
                     Interpolation interpolation);
  /// Makes room for their values, once their operators exist. Throws like the constructor.
  void extend(std::size_t number);
  const DevicePattern& prolongation(std::size_t number) const {
    return values_[number].prolongation.pattern;
  }
  const DevicePattern& restriction(std::size_t number) const {
    return values_[number].restriction.pattern;
  }
  const DevicePattern& matrix(std::size_t number) const { return values_[number].matrix.pattern; }
  void transfer(std::size_t number, double rounding);
  /// Adds the inverse of a level, without values yet, once its operator exists. Throws like the
  /// constructor.
  void add_inverse(std::size_t number);
  void solve(std::size_t number);

  /// The host estimates eigenvalues anew: the next values take the sums that it has then.
  void forget_reach() { has_reach_ = has_values_ = false; }
  /// Bring the sums of the last estimates, and the patterns, to levels that do not have them yet.
  void bring_reach();
  void bring_patterns();

  /// Takes the sums of the last estimates, which `queue` does the first time.
  void take_reach();
  bool has_reach() const { return has_reach_; }
  /// Queues all values. `rounding`: rounding of energies. Allocates nothing.
  void queue(double rounding);
  /// Waits for the values. False if the CPU has to check them: they may be good or bad then.
  bool are_good();
  /// True if the coarsest level is left to the host; brings its pattern, values and scales there.
  bool brings_coarsest();

 private:
  template <class T>
  using Array = heddle::Array<T>;
  template <class T>
  using UnsetArray = heddle::UnsetArray<T>;

  using Pattern = DevicePattern;
  using Places = DevicePlaces;
  struct Matrix {
    Pattern pattern;
    UnsetArray<double> values;
  };
  /// The places where a product's terms are added, and the pieces into which few long rows are cut.
  struct Product {
    Places places;
    heddle::detail::ProductPieces pieces;
  };
  /// How entries store the numbers of tiles.
  struct Stored {
    Array<TileComponent> numbers;  // empty: unchanged
    int scalar_bytes = 8;
  };
  struct Values {
    Matrix matrix;
    Array<Offset> diagonal;
    Array<double> inverses, energies, reach;
    // Between this level and the next one.
    Matrix tentative, prolongation, image, restriction;
    Product to_prolongation, to_image, to_coarse;
    Array<Offset> place;
    bool is_smoothed = true;  // P is smoothed; else it is T for all values
    Array<double> scales, scratch;
    Stored of_p, of_adjoint, of_matrix;
    // For a level that is solved.
    Array<double> dense, other, panel, sizes, inverse;
  };

  void bring(const Pattern& pattern, heddle::detail::UserRows& rows) const;
  void bring(const Places& places, const Pattern& product,
             heddle::detail::ProductPlaces& on_host) const;
  Stored stored_of(const heddle::detail::EntryTable<S>& entry,
                   const heddle::detail::EntryTiles& tiles, std::size_t numbers);
  void make_tentative(std::size_t number, const heddle::detail::Aggregates& aggregates);
  void add_level(std::size_t number);
  void add_transfer(std::size_t number);
  void cut_rows(const Matrix& a, const Matrix& b, const Pattern& c,
                const heddle::detail::TileShape& shape, Product& product);
  void make_staged();
  device::ReachRows reach_rows(std::size_t number) const;
  void smooth(std::size_t number);
  void smooth_transfer(std::size_t number);
  void put(std::span<const double> values, const Stored& stored,
           heddle::detail::SlicedOperator<S>& to);
  const double* scales_below(std::size_t number) const;

  heddle::detail::SlicedOperator<S> matrix_;
  const Levels& levels_;
  StoredValues source_;
  Device device_;
  Array<Offset> slot_;
  Array<TileComponent> components_;  // components of the finest level's tiles
  std::vector<Values> values_;
  bool has_reach_ = false;
  bool has_values_ = false;  // the last estimates are from the GPU's values
  std::size_t staged_bytes_ = 0;
  Array<std::byte> staged_;
  Array<double> candidates_;  // for the last level's rows
  DeviceNorms norms_;
  PinnedBuffer arriving_;
  long long staged_sums_ = 0;  // bytes
  Array<double> sums_;         // sums of the pieces of a product
  Mapped<RefreshDoubts> doubts_;
};

}  // namespace heddle::cuda
