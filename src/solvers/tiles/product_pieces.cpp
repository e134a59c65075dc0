#include "product_pieces.hpp"

#include <algorithm>
#include <vector>

namespace heddle::detail {

namespace {

/// Enough lanes for the largest GPUs, so that each of their multiprocessors can fill its waits.
constexpr Offset lanes_to_fill = 1 << 18;
/// A piece of fewer entries costs more to begin and to add than it saves.
constexpr Offset fewest_entries = 8;
constexpr Offset max_scalars = 1 << 23;  // in the sums of all pieces

Offset pieces_of(Offset entries, Offset of_piece) { return (entries + of_piece - 1) / of_piece; }

}  // namespace

ProductShares shares_of(int height, int width, int ring, double length, Offset longest) {
  constexpr int warp = 32, max_windows = 8;
  const int numbers = height * width;
  // The sizes of other tiles are not constants of the kernel.
  const int down = device::numbers_down(ring == 1 && height == 3 && width == 3 ? height : 0);
  const double work = length * numbers / down;
  const bool is_warp = is_for_warps(height, width, ring);
  ProductShares shares;
  while (shares.lanes < warp && (is_warp || 2 * shares.lanes <= work)) shares.lanes *= 2;
  const Offset of_tile = Offset(numbers) * ring * Offset(sizeof(double));
  shares.tiles = std::min(longest, shared_bytes_of_warp * shares.lanes / warp / of_tile);
  shares.sums_size = shares.tiles * of_tile;
  if (shares.tiles > 0) {
    const Offset windows = pieces_of(longest, shares.tiles);
    shares.windows = static_cast<int>(std::min<Offset>(max_windows, windows));
  }
  return shares;
}

long long PieceSizes::bytes_of_sums() const { return count * sums_size * Offset(sizeof(double)); }

Offset entries_of_piece(Offset entries, int height, int width, int ring, double length,
                        Offset longest) {
  const ProductShares shares = shares_of(height, width, ring, length, longest);
  return std::max({fewest_entries, pieces_of(entries * shares.lanes, lanes_to_fill),
                   pieces_of(entries * (longest * height * width * ring), max_scalars)});
}

PieceSizes sizes_of_pieces(std::span<const Offset> rows, int height, int width, int ring,
                           double length, Offset longest) {
  PieceSizes sizes;
  sizes.sums_size = longest * height * width * ring;
  sizes.entries = entries_of_piece(rows.back(), height, width, ring, length, longest);
  Offset longest_of_a = 0, count = 0;
  for (std::size_t row = 0; row + 1 < rows.size(); ++row) {
    const Offset own = rows[row + 1] - rows[row];
    longest_of_a = std::max(longest_of_a, own);
    count += pieces_of(own, sizes.entries);
  }
  if (longest_of_a < 2 * sizes.entries || count * sizes.sums_size > 2 * max_scalars) return {};
  sizes.count = static_cast<Index>(count);
  return sizes;
}

ProductPieces product_pieces(std::span<const Offset> rows, const PieceSizes& sizes,
                             const Device& device) {
  ProductPieces pieces;
  pieces.sizes = sizes;
  if (sizes.count == 0) return pieces;
  std::vector<Index> row_of, first{0};
  std::vector<Offset> entry;
  for (std::size_t row = 0; row + 1 < rows.size(); ++row) {
    const Offset own = rows[row + 1] - rows[row], count = pieces_of(own, sizes.entries);
    for (Offset k = 0; k < count; ++k) {
      row_of.push_back(static_cast<Index>(row));
      entry.push_back(rows[row] + own * k / count);
    }
    first.push_back(static_cast<Index>(row_of.size()));
  }
  entry.push_back(rows.back());
  pieces.row = Array<Index>(std::span<const Index>(row_of), device);
  pieces.first = Array<Index>(std::span<const Index>(first), device);
  pieces.entry = Array<Offset>(std::span<const Offset>(entry), device);
  pieces.place = Array<Offset>(row_of.size(), device);
  return pieces;
}

}  // namespace heddle::detail
