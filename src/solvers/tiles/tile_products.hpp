// Products of tile matrices on kept patterns. The place where each term is added is found once, so
// that new values are only multiplied and added: no pattern is searched.
#pragma once

#include <cstdint>

#include "tile_matrix.hpp"

namespace heddle::detail {

/// The places where the terms of C = A B are added: the place in C's row of each term, in the order
/// of A's row and of the rows of B that belong to it.
struct ProductPlaces {
  std::size_t longest = 0;  // longest row of C
  Array<Offset> first;      // first place of each row of C
  // Only one of these is used, by the longest row.
  UnsetArray<std::uint8_t> bytes;
  UnsetArray<std::uint16_t> halves;
  UnsetArray<std::uint32_t> words;
  /// For a Hermitian C on a symmetric pattern: the place of the conjugate transpose of each tile.
  /// Tiles below the diagonal then have no terms, and are copied; the places of a row of C follow
  /// the counts of tiles of B that each entry of A's row leaves out. Empty otherwise, and for
  /// single real numbers, which are all summed.
  Array<Offset> mirror;

  long long memory() const {
    return static_cast<long long>((first.size() + mirror.size()) * sizeof(Offset) + bytes.size() +
                                  halves.size() * sizeof halves[0] +
                                  words.size() * sizeof words[0]);
  }
};

/// A matrix on the pattern of A B, without values yet, and the places where its terms are added.
/// `is_hermitian`: A B is Hermitian up to rounding. Throws `Error` (memory) if they do not fit.
TileMatrix product_pattern(const TileMatrix& a, const TileMatrix& b, bool is_hermitian,
                           const Stream& host, ProductPlaces& places);

/// The use of a product. A right factor needs no order of its columns.
enum class ProductUse { matrix, hermitian, factor };

/// A B with its values, which have the bits of `multiply`. For single real numbers pattern and
/// values come from one walk over the terms, which are listed only once `list_terms` requests them,
/// and the columns of a `factor` need not increase.
TileMatrix product(const TileMatrix& a, const TileMatrix& b, ProductUse use, const Stream& host,
                   ProductPlaces& places);

/// Finds where the terms of C = A B are added, if that is not known yet.
void list_terms(const TileMatrix& a, const TileMatrix& b, const TileMatrix& c,
                ProductPlaces& places, const Stream& host);

/// c = a b; the same bits for any number of threads. Allocates nothing.
void multiply(const TileMatrix& a, const TileMatrix& b, const ProductPlaces& places, TileMatrix& c,
              const Stream& host);

}  // namespace heddle::detail
