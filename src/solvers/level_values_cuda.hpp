// New values of a hierarchy's levels, computed by the GPU on kept patterns: what `Hierarchy` keeps
// on the host, in the GPU's memory.
#pragma once

#include <vector>

#include "base/cuda_call.hpp"
#include "multigrid_hierarchy.hpp"
#include "tile_values_cuda.hpp"

namespace heddle::cuda {

template <class S>
class LevelValues {
 public:
  using Level = typename heddle::detail::Hierarchy<S>::Level;
  using Levels = std::vector<std::unique_ptr<Level>>;

  /// Copies patterns and places. Throws `Error` (memory): they do not fit.
  LevelValues(const heddle::detail::SlicedOperator<S>& matrix,
              const heddle::detail::StoredRows& rows, const Levels& levels);

  /// What it would take.
  static long long bytes(const heddle::detail::StoredRows& rows, const Levels& levels);

  /// The host estimates eigenvalues anew: the next values take the sums that it has then.
  void forget_reach() { has_reach_ = false; }

  /// Queues all values. `rounding`: of energies. Allocates nothing.
  void queue(double rounding);
  /// Waits for them. False where the CPU has to look: nothing is said of the values then.
  bool are_good();
  /// Whether the coarsest level is left to the host, to which it brings values and scales.
  bool brings_coarsest();

 private:
  template <class T>
  using Array = heddle::Array<T>;

  struct Pattern {
    Array<Offset> offsets;
    Array<Index> column;
    Index rows = 0;
    double length = 0;  // mean of its rows

    device::TilePattern view() const { return {rows, offsets.data(), column.data()}; }
  };
  struct Places {
    Array<unsigned char> of_terms;
    int bytes = 1;
    Array<Offset> first, mirror;
    Offset longest = 0;  // row of C
    heddle::detail::ProductPieces pieces;

    device::TermPlaces view() const {
      return {of_terms.data(), bytes, first.data(), mirror.empty() ? nullptr : mirror.data()};
    }
  };
  struct Matrix {
    Pattern pattern;
    Array<double> values;
  };
  /// Entries in which numbers of tiles are stored otherwise.
  struct Stored {
    Array<TileComponent> numbers;  // empty: as they are
    int scalar_bytes = 8;
  };
  struct Values {
    Matrix matrix;
    Array<Offset> diagonal;
    Array<double> inverses, energies, reach;
    // Between it and the next level.
    Matrix tentative, prolongation, image, restriction;
    Places to_prolongation, to_image, to_coarse;
    Array<Offset> place;
    Array<double> scales, scratch;
    Stored of_p, of_adjoint, of_matrix;
    // Of a level that is solved.
    Array<double> dense, other, panel, sizes, inverse;
  };

  Pattern pattern_of(const heddle::detail::UserRows& rows, bool with_columns) const;
  /// Of a product a b whose tiles are of this shape; `rows`: a's.
  Places places_of(const heddle::detail::ProductPlaces& places, const Matrix& a, const Matrix& b,
                   const heddle::detail::UserRows& rows, const heddle::detail::TileShape& shape);
  Stored stored_of(const heddle::detail::EntryTable<S>& entry,
                   const heddle::detail::EntryTiles& tiles,
                   const heddle::detail::TileMatrix& matrix);
  void take_reach();
  void add_level(std::size_t number);
  void add_transfer(std::size_t number);
  void add_inverse(std::size_t number);
  void read_matrix();
  void smooth(std::size_t number);
  void transfer(std::size_t number, double rounding);
  void solve(std::size_t number);
  void put(const Array<double>& values, const Stored& stored,
           heddle::detail::SlicedOperator<S>& to);
  const double* scales_below(std::size_t number) const;

  heddle::detail::SlicedOperator<S> matrix_;
  const Levels& levels_;
  Device device_;
  Array<Offset> slot_;
  Array<TileComponent> components_;  // of the finest level
  std::vector<Values> values_;
  bool has_reach_ = false;
  std::size_t staged_bytes_ = 0;
  Array<std::byte> staged_;
  long long staged_sums_ = 0;  // bytes
  Array<double> sums_;         // of the pieces of a product
  Mapped<RefreshDoubts> doubts_;
};

}  // namespace heddle::cuda
