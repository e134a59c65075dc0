// Division of the sums of a product of tile matrices on a GPU: a few long rows of C are cut into
// pieces, whose sums are added separately.
#pragma once

#include <span>

#include "heddle/array.hpp"
#include "tile_product_rows.hpp"

namespace heddle::detail {

/// True if warps multiply whole tiles (warp_products_cuda.cuh).
constexpr bool is_for_warps(int height, int width, int ring) {
  return ring == 1 && width == 6 && (height == 3 || height == 6);
}

/// The work of the lanes of a product. It depends only on the product's matrices, and so do the
/// sums.
struct ProductShares {
  int lanes = 1;         // lanes of a warp that are a team
  Offset tiles = 0;      // tiles whose sums fit in a team's shared memory
  Offset sums_size = 0;  // bytes for these
  int windows = 1;       // windows per row of C (`device::RowUnit`)
};
/// For tiles of height x width numbers. `length`: the mean of B's rows, `longest`: the longest of
/// C's.
ProductShares shares_of(int height, int width, int ring, double length, Offset longest);
/// Bytes of shared memory for the sums of a warp: four warps stay below 48 KiB, which a block gets
/// without a request, and 16 to 20 warps of a multiprocessor leave it a cache.
inline constexpr Offset shared_bytes_of_warp = 11 << 10;

/// Entries of A in a piece, and the number of pieces; none if rows are added up whole.
struct PieceSizes {
  Offset entries = 0;
  Index count = 0;
  Offset sums_size = 0;  // scalars of the sums of each

  long long bytes_of_sums() const;
};
/// Entries of A per piece, if A has `entries` entries; the rest is as for `shares_of`. If no row of
/// A has twice as many as a piece, all are added up whole.
Offset entries_of_piece(Offset entries, int height, int width, int ring, double length,
                        Offset longest);
/// `rows`: A's offsets, on the host.
PieceSizes sizes_of_pieces(std::span<const Offset> rows, int height, int width, int ring,
                           double length, Offset longest);

/// `device::RowPieces`, except for the sums.
struct ProductPieces {
  PieceSizes sizes;
  Array<Index> row, first;
  Array<Offset> entry, place;

  device::RowPieces view(double* sums) const {
    return {sizes.count,  row.data(), entry.data(),   place.data(),
            first.data(), sums,       sizes.sums_size};
  }
};
/// Makes the pieces in the memory of a device, where `device::find_places` sets the places.
ProductPieces product_pieces(std::span<const Offset> rows, const PieceSizes& sizes,
                             const Device& device);

}  // namespace heddle::detail
