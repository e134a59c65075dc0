// Sparse matrices of small dense tiles over a ring, on the host: the products that set a hierarchy
// up. Entries below their types are such tiles (entry_tiles.hpp).
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "entry_tiles.hpp"
#include "heddle/detail/row_products.hpp"
#include "matrix/stored_rows.hpp"

namespace heddle::detail {

/// Number (i, j) of a tile, of `ring` scalars, begins at (i * width + j) * ring.
struct TileShape {
  int height = 1;
  int width = 1;
  int ring = 1;

  int scalars() const { return height * width * ring; }
  TileShape turned() const { return {width, height, ring}; }
  bool operator==(const TileShape&) const = default;
};

struct TileMatrix {
  TileShape shape;
  Index columns = 0;
  UserRows pattern;
  Array<double> values;  // tile by tile, in the order of the pattern

  Index rows() const { return pattern.rows(); }
  double* tile(Offset entry) { return values.data() + entry * shape.scalars(); }
  const double* tile(Offset entry) const { return values.data() + entry * shape.scalars(); }
  /// Room for the values of the pattern, all 0.
  void make_values() {
    values = Array<double>(static_cast<std::size_t>(pattern.entries()) *
                           static_cast<std::size_t>(shape.scalars()));
  }
};

/// A zero matrix on the pattern of the product.
TileMatrix product_pattern(const TileMatrix& a, const TileMatrix& b, const Stream& host);

/// c = a b on the pattern that `product_pattern` made; the same bits for any number of threads.
/// With `places` of an earlier product it allocates nothing.
void multiply(const TileMatrix& a, const TileMatrix& b, TileMatrix& c, ColumnPlaces& places,
              const Stream& host);
void multiply(const TileMatrix& a, const TileMatrix& b, TileMatrix& c, const Stream& host);

/// A zero matrix on the pattern of a*; `place` gets the place of each tile of a.
TileMatrix adjoint_pattern(const TileMatrix& a, Array<Offset>& place);

/// The conjugate transposes of the tiles of a, at their places.
void conjugate_transpose(const TileMatrix& a, const Array<Offset>& place, TileMatrix& adjoint,
                         const Stream& host);

/// What the set-up of a hierarchy works in, kept so that new values of its matrix allocate nothing.
struct SetupScratch {
  ColumnPlaces places;
  ThreadScratch<double> numbers;
  ThreadScratch<Index> order;
  std::vector<std::byte> stored;             // values on their way from an operator, and to one
  std::vector<double> dense, work, inverse;  // of the level that is solved exactly

  long long bytes() const {
    return places.bytes() + numbers.bytes() + order.bytes() +
           static_cast<long long>(stored.size() +
                                  (dense.size() + work.size() + inverse.size()) * sizeof(double));
  }
};

/// The inverses of the diagonal tiles, row by row, into room for them. Throws `Error`: singular for
/// a row without one, unsupported for one that is not positive definite.
void invert_diagonal(const TileMatrix& a, Array<double>& inverses, SetupScratch& scratch,
                     const Stream& host);
Array<double> inverse_diagonal(const TileMatrix& a, const Stream& host);

/// Whether every number of a tile is a component of its own: products of such entries are entries.
bool is_full(const EntryTiles& tiles);

/// Whether the numbers of a tile are the components of its entry, one by one.
bool is_in_order(const EntryTiles& tiles);

/// Numbers of tiles as components of entries; whole arrays of them.
void components_from_tiles(const EntryTiles& tiles, std::span<const double> numbers,
                           std::span<std::byte> stored, int stored_bytes, const Stream& host);

}  // namespace heddle::detail
