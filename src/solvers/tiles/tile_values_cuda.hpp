// The numeric part of a hierarchy on a GPU: kernels for the rows of tile_rows.hpp, in double. All
// of them are only queued.
#pragma once

#include "dense_rows.hpp"
#include "heddle/device.hpp"
#include "matrix/adjoint_values.hpp"
#include "product_pieces.hpp"

namespace heddle::cuda {

/// Findings of a kernel that the CPU has to look at, in memory that both can access.
struct RefreshDoubts {
  int values = 0;  // not finite, a singular or negative diagonal, an eigenvalue that may have grown
  int coarsest = 0;    // little is left of the rows of the coarsest level
  Index singular = 0;  // row of Jacobi's matrix; set to its number of rows before
};

/// A number of a tile as a component of its entry.
struct TileComponent {
  int at;
  int sign;
};

/// Numbers of tiles from the stored values of a matrix.
struct StoredTiles {
  const void* from = nullptr;
  int scalar_bytes = 8;
  SlotRule rule{};
  const Offset* slot = nullptr;  // slot of each entry
  const TileComponent* components = nullptr;
  int scalars = 1;  // per tile
  Offset entries = 0;
  double* to = nullptr;
};
void read_tiles(const StoredTiles& tiles, int* doubt, const Stream& stream);

/// Components of entries, of 4 or 8 bytes, from tiles of as many scalars.
struct TileEntries {
  const double* from = nullptr;
  const TileComponent* numbers = nullptr;  // number of each component
  int scalars = 1;
  Offset entries = 0;
  int scalar_bytes = 8;
  void* to = nullptr;
};
void write_entries(const TileEntries& entries, const Stream& stream);

/// `length`: the mean of B's rows, `longest`: the longest of C's.
void multiply(device::TileProduct product, int ring, double length, Offset longest,
              const Stream& stream);
/// Cuts a few long rows of a product into pieces. `rows`: A's offsets, on the host. From the
/// product, only the patterns of A and B, the places and the sizes of tiles are read.
heddle::detail::ProductPieces cut(const device::TileProduct& product, std::span<const Offset> rows,
                                  int ring, double length, Offset longest, const Device& device);
void smooth(const device::SmoothedRows& rows, int ring, double length, const Stream& stream);
void invert_diagonal(const device::DiagonalRows& rows, int ring, Index count, int* doubt,
                     const Stream& stream);
void look_for_growth(const device::ReachRows& rows, int ring, double length, int* doubt,
                     const Stream& stream);
void mend(const device::MendedRows& rows, int ring, double length, int* doubt,
          const Stream& stream);
void invert_dense(const device::DenseInverse& dense, int ring, int* doubt, const Stream& stream);

}  // namespace heddle::cuda
