// How a GPU shares out the sums of a product of tile matrices: few long rows of C are cut in
// pieces, whose sums are added up apart.
#pragma once

#include <span>

#include "heddle/array.hpp"
#include "product_rows.hpp"

namespace heddle::detail {

/// Whether warps multiply whole tiles (warp_products_cuda.cuh).
constexpr bool is_for_warps(int height, int width, int ring) {
  return ring == 1 && width == 6 && (height == 3 || height == 6);
}

/// What the lanes of a product do. They depend on its matrices alone, and so do its sums.
struct ProductShares {
  int lanes = 1;     // of a warp, that are a team
  Offset tiles = 0;  // whose sums a team has room for in shared memory
  Offset room = 0;   // bytes for these
  int windows = 1;   // of a row of C (`device::RowUnit`)
};
/// For tiles of height x width numbers. `length`: the mean of B's rows, `longest`: the longest of
/// C's.
ProductShares shares_of(int height, int width, int ring, double length, Offset longest);
/// Bytes of shared memory for the sums of a warp: four warps stay below 48 KiB, which a block gets
/// without asking, and 16 to 20 of a multiprocessor leave it a cache.
inline constexpr Offset room_of_warp = 11 << 10;

/// Entries of A in a piece, and how many pieces there are; none where rows are added up whole.
struct PieceSizes {
  Offset entries = 0;
  Index count = 0;
  Offset room = 0;  // scalars of the sums of each

  long long bytes_of_sums() const;
};
/// Where A has so many entries, and else as `shares_of`. Where no row of A has twice as many as a
/// piece, all are added up whole.
Offset entries_of_piece(Offset entries, int height, int width, int ring, double length,
                        Offset longest);
/// `rows`: A's offsets, on the host.
PieceSizes sizes_of_pieces(std::span<const Offset> rows, int height, int width, int ring,
                           double length, Offset longest);

/// `device::RowPieces` but for the sums.
struct ProductPieces {
  PieceSizes sizes;
  Array<Index> row, first;
  Array<Offset> entry, place;

  device::RowPieces view(double* sums) const {
    return {sizes.count, row.data(), entry.data(), place.data(), first.data(), sums, sizes.room};
  }
};
/// In the memory of a device, where `device::find_places` sets the places.
ProductPieces product_pieces(std::span<const Offset> rows, const PieceSizes& sizes,
                             const Device& device);

}  // namespace heddle::detail
