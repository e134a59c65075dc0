// Products of tile matrices on kept patterns. What each tile is a sum of is found once, so that new
// values are gathered and added: no pattern is searched, and nothing is cleared.
#pragma once

#include <cstdint>

#include "tile_matrix.hpp"

namespace heddle::detail {

/// The terms of C = A B: tile k of C is the sum of products of two tiles over the terms first[k],
/// ..., first[k + 1] - 1, in the order of A's row.
struct ProductTerms {
  /// Places of a tile in A's row, and of one in the row of B that belongs to it.
  struct Term {
    std::uint16_t left = 0;
    std::uint16_t right = 0;
  };
  /// Places in all of A and B, for rows of more than 2^16 tiles.
  struct WideTerm {
    std::uint32_t left = 0;
    std::uint32_t right = 0;
  };

  Array<Offset> first;
  Array<Term> terms;
  Array<WideTerm> wide_terms;   // in place of these
  std::size_t longest_row = 0;  // of A
  /// Of a Hermitian C on a symmetric pattern: the place of the conjugate transpose of each tile.
  /// Tiles below the diagonal have no terms then, and are copied. Empty otherwise.
  Array<Offset> mirror;

  long long bytes() const {
    return static_cast<long long>((first.size() + mirror.size()) * sizeof(Offset) +
                                  terms.size() * sizeof(Term) +
                                  wide_terms.size() * sizeof(WideTerm));
  }
};

/// A zero matrix on the pattern of the product.
TileMatrix product_pattern(const TileMatrix& a, const TileMatrix& b, const Stream& host);

/// Of a product on the pattern that `product_pattern` made. `is_hermitian`: A B is, to rounding.
/// Throws `Error` (memory): the terms do not fit, or a factor with a row of more than 2^16 tiles
/// has more than 2^32.
ProductTerms product_terms(const TileMatrix& a, const TileMatrix& b, const TileMatrix& c,
                           bool is_hermitian, const Stream& host);

/// c = a b; the same bits for any number of threads. With the scratch of an earlier product it
/// allocates nothing.
void multiply(const TileMatrix& a, const TileMatrix& b, const ProductTerms& terms, TileMatrix& c,
              SetupScratch& scratch, const Stream& host);

}  // namespace heddle::detail
