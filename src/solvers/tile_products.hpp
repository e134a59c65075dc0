// Products of tile matrices on kept patterns. What each tile is a sum of is found once, so that new
// values are gathered and added: no pattern is searched, and nothing is cleared.
#pragma once

#include <cstdint>

#include "tile_matrix.hpp"

namespace heddle::detail {

/// The terms of C = A B: tile k of C is the sum of tile `left` of A times tile `right` of B over
/// the terms first[k], ..., first[k + 1] - 1, in the order of A's row.
struct ProductTerms {
  struct Term {
    std::uint32_t left = 0;
    std::uint32_t right = 0;
  };

  Array<Offset> first;
  Array<Term> terms;
  /// Of a Hermitian C on a symmetric pattern: the place of the conjugate transpose of each tile.
  /// Tiles below the diagonal have no terms then, and are copied. Empty otherwise.
  Array<Offset> mirror;

  long long bytes() const {
    return static_cast<long long>((first.size() + mirror.size()) * sizeof(Offset) +
                                  terms.size() * sizeof(Term));
  }
};

/// A zero matrix on the pattern of the product.
TileMatrix product_pattern(const TileMatrix& a, const TileMatrix& b, const Stream& host);

/// Of a product on the pattern that `product_pattern` made. `is_hermitian`: A B is, to rounding.
/// Throws `Error` (memory): a factor has more than 2^32 tiles, or the terms do not fit.
ProductTerms product_terms(const TileMatrix& a, const TileMatrix& b, const TileMatrix& c,
                           bool is_hermitian, const Stream& host);

/// c = a b; the same bits for any number of threads. Allocates nothing.
void multiply(const TileMatrix& a, const TileMatrix& b, const ProductTerms& terms, TileMatrix& c,
              const Stream& host);

}  // namespace heddle::detail
