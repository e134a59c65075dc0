#include "product_pieces.hpp"

#include <algorithm>
#include <vector>

namespace heddle::detail {

namespace {

/// Of the largest GPUs, so that each of their multiprocessors has waits to fill.
constexpr Offset lanes_to_fill = 1 << 18;
/// A piece of fewer entries costs more to begin and to add than it saves.
constexpr Offset fewest_entries = 8;
constexpr Offset most_scalars = 1 << 23;  // of all pieces' sums

Offset pieces_of(Offset entries, Offset of_piece) { return (entries + of_piece - 1) / of_piece; }

Offset entries_of_row(const TileMatrix& a, Index row) {
  return a.pattern.begin(row + 1) - a.pattern.begin(row);
}

/// Places of all terms, one after the other.
Offset place_at(const ProductPlaces& places, Offset term) {
  const auto at = static_cast<std::size_t>(term);
  if (!places.bytes.empty()) return places.bytes[at];
  return places.halves.empty() ? Offset(places.words[at]) : Offset(places.halves[at]);
}

}  // namespace

ProductShares shares_of(int height, int width, int ring, double length, Offset longest) {
  constexpr Offset usual_room = 24 << 10, most_room = (48 << 10) - 64;
  constexpr int warp = 32;
  const int numbers = height * width;
  const bool are_together = ring == 1 && height % 3 == 0 && width % 3 == 0;
  const int together =
      are_together ? device::numbers_down(height) * device::numbers_across(width) : 1;
  ProductShares shares;
  while (shares.lanes < warp && shares.lanes * together < length * numbers) shares.lanes *= 2;
  shares.room = longest * numbers * ring * Offset(sizeof(double));
  while (shares.lanes < lanes_of_products &&
         shares.room * (lanes_of_products / shares.lanes) > usual_room) {
    shares.lanes = shares.lanes == warp ? lanes_of_products : 2 * shares.lanes;
  }
  if (shares.room > most_room) shares.room = 0;
  return shares;
}

long long PieceSizes::bytes(Index rows) const {
  if (count == 0) return 0;
  constexpr Offset of_piece = sizeof(Index) + 2 * sizeof(Offset);
  return count * of_piece + (rows + Offset(1)) * Offset(sizeof(Index)) + Offset(sizeof(Offset));
}

long long PieceSizes::bytes_of_sums() const { return count * room * Offset(sizeof(double)); }

PieceSizes sizes_of_pieces(const TileMatrix& a, const TileMatrix& b, const TileMatrix& c,
                           Offset longest) {
  const double length = b.rows() > 0 ? static_cast<double>(b.pattern.entries()) / b.rows() : 0;
  const ProductShares shares =
      shares_of(c.shape.height, c.shape.width, c.shape.ring, length, longest);
  PieceSizes sizes;
  sizes.room = longest * c.shape.scalars();
  const Offset entries = a.pattern.entries();
  sizes.entries = std::max({fewest_entries, pieces_of(entries * shares.lanes, lanes_to_fill),
                            pieces_of(entries * sizes.room, most_scalars)});
  Offset longest_of_a = 0, count = 0;
  for (Index row = 0; row < a.rows(); ++row) {
    const Offset own = entries_of_row(a, row);
    longest_of_a = std::max(longest_of_a, own);
    count += pieces_of(own, sizes.entries);
  }
  if (longest_of_a < 2 * sizes.entries) return {};
  sizes.count = static_cast<Index>(count);
  return sizes;
}

ProductPieces product_pieces(const TileMatrix& a, const TileMatrix& b, const TileMatrix& c,
                             const ProductPlaces& places, const Device& device) {
  ProductPieces pieces;
  pieces.sizes = sizes_of_pieces(a, b, c, static_cast<Offset>(places.longest));
  if (pieces.sizes.count == 0) return pieces;
  const bool is_half = !places.mirror.empty();
  std::vector<Index> row_of, first{0};
  std::vector<Offset> entry, place;
  for (Index row = 0; row < a.rows(); ++row) {
    const Offset begin = a.pattern.begin(row), own = entries_of_row(a, row);
    const Offset count = pieces_of(own, pieces.sizes.entries);
    Offset term = places.first[static_cast<std::size_t>(row)], next = 0;
    for (Offset e = 0; e < own; ++e) {
      if (e == own * next / count) {
        row_of.push_back(row);
        entry.push_back(begin + e);
        place.push_back(term);
        ++next;
      }
      const Index middle = a.pattern.column[static_cast<std::size_t>(begin + e)];
      Offset terms = b.pattern.begin(middle + 1) - b.pattern.begin(middle);
      if (is_half) terms += 1 - place_at(places, term);
      term += terms;
    }
    first.push_back(static_cast<Index>(row_of.size()));
  }
  entry.push_back(a.pattern.entries());
  pieces.row = Array<Index>(std::span<const Index>(row_of), device);
  pieces.first = Array<Index>(std::span<const Index>(first), device);
  pieces.entry = Array<Offset>(std::span<const Offset>(entry), device);
  pieces.place = Array<Offset>(std::span<const Offset>(place), device);
  return pieces;
}

}  // namespace heddle::detail
