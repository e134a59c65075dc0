// Sparse matrices of small dense tiles over a ring, on the host, from which a hierarchy is set up.
// Entries, whatever their types, are such tiles (entry_tiles.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "base/unset_array.hpp"
#include "entry_tiles.hpp"
#include "heddle/detail/matrix_product_rows.hpp"
#include "matrix/stored_rows.hpp"

namespace heddle::detail {

/// Number (i, j) of a tile, of `ring` scalars, begins at (i * width + j) * ring.
struct TileShape {
  int height = 1;
  int width = 1;
  int ring = 1;

  int scalars() const { return height * width * ring; }
  TileShape transposed() const { return {width, height, ring}; }
  bool operator==(const TileShape&) const = default;
};

struct TileMatrix {
  TileShape shape;
  Index columns = 0;
  UserRows pattern;
  UnsetArray<double> values;  // tile by tile, in the order of the pattern

  Index rows() const { return pattern.rows(); }
  double* tile(Offset entry) { return values.data() + entry * shape.scalars(); }
  const double* tile(Offset entry) const { return values.data() + entry * shape.scalars(); }
  /// Room for the values of the pattern, which the caller sets.
  void make_values() {
    values = UnsetArray<double>(static_cast<std::size_t>(pattern.entries()) *
                                static_cast<std::size_t>(shape.scalars()));
  }
};

/// Puts the conjugate transpose of a tile of this shape into one of the transposed shape.
inline void put_conjugate_transpose(const TileShape& shape, const double* from, double* to) {
  const Offset height = shape.height, width = shape.width, ring = shape.ring;
  for (Offset row = 0; row < height; ++row) {
    for (Offset column = 0; column < width; ++column) {
      double* const number = to + (column * height + row) * ring;
      number[0] = *from++;
      for (Offset part = 1; part < ring; ++part) number[part] = -*from++;
    }
  }
}

/// A matrix on the pattern of a*, without values yet; `place` gets the place of each tile of a.
TileMatrix adjoint_pattern(const TileMatrix& a, const Stream& host, Array<Offset>& place);

/// The conjugate transposes of the tiles of a, at their places.
void conjugate_transpose(const TileMatrix& a, const Array<Offset>& place, TileMatrix& adjoint,
                         const Stream& host);

/// The workspace of the set-up of a hierarchy, kept so that new values of its matrix allocate
/// nothing.
struct SetupScratch {
  ThreadScratch<double> numbers;
  ThreadScratch<Index> order;
  Array<std::byte> stored;                   // values on their way from an operator, and to one
  std::vector<double> dense, work, inverse;  // for the level that is solved exactly

  long long bytes() const {
    return numbers.bytes() + order.bytes() +
           static_cast<long long>(stored.size() +
                                  (dense.size() + work.size() + inverse.size()) * sizeof(double));
  }
};

/// Puts the inverses of the diagonal tiles, row by row, into `inverses`; rows of zeros count as
/// those of the identity. Throws `Error`: singular for a row without one, unsupported for a matrix
/// that is not positive semidefinite.
void invert_diagonal(const TileMatrix& a, UnsetArray<double>& inverses, SetupScratch& scratch,
                     const Stream& host);
UnsetArray<double> inverse_diagonal(const TileMatrix& a, const Stream& host);

/// True if every number of a tile is a separate component: products of such entries are entries.
bool is_full(const EntryTiles& tiles);

/// True if the numbers of a tile are the components of its entry, one by one.
bool is_in_order(const EntryTiles& tiles);

/// Converts whole arrays of numbers of tiles to components of entries.
void components_from_tiles(const EntryTiles& tiles, std::span<const double> numbers,
                           std::span<std::byte> stored, int stored_bytes, const Stream& host);

}  // namespace heddle::detail
