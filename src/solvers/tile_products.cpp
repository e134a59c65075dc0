#include "tile_products.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/detail/wide_loop.hpp"
#include "heddle/tools/memory_error.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

namespace {

bool is_same(const UserRows& a, const UserRows& b) {
  return std::equal(a.offsets.begin(), a.offsets.end(), b.offsets.begin(), b.offsets.end()) &&
         std::equal(a.column.begin(), a.column.end(), b.column.begin(), b.column.end());
}

/// The entries of a row of B from a column on.
Offset begin_in(const TileMatrix& b, Index row, Index column) {
  const std::span<const Index> columns = b.pattern.row(row);
  const auto found =
      column > 0 ? std::lower_bound(columns.begin(), columns.end(), column) : columns.begin();
  return b.pattern.begin(row) + (found - columns.begin());
}

/// `body(i, j)` for each entry i of A's row and j of B's row there whose product is a term.
template <class Body>
void for_each_term(const TileMatrix& a, const TileMatrix& b, Index row, bool is_upper,
                   const Body& body) {
  for (Offset i = a.pattern.begin(row); i < a.pattern.begin(row + 1); ++i) {
    const Index middle = a.pattern.column[static_cast<std::size_t>(i)];
    const Offset end = b.pattern.begin(middle + 1);
    for (Offset j = begin_in(b, middle, is_upper ? row : 0); j < end; ++j) body(i, j);
  }
}

using FourNumbers = double __attribute__((vector_size(32)));
using TwoNumbers = double __attribute__((vector_size(16)));

/// A row of three or six real numbers in registers.
template <int W>
struct RowInRegisters {
  static_assert(W == 3 || W == 6);
  using Wide = std::conditional_t<W == 6, FourNumbers, TwoNumbers>;
  using Narrow = std::conditional_t<W == 6, TwoNumbers, double>;
  Wide wide;
  Narrow narrow;

  static HEDDLE_INLINE RowInRegisters at(const double* from) {
    RowInRegisters row;
    std::memcpy(&row.wide, from, sizeof(Wide));
    std::memcpy(&row.narrow, from + W * 2 / 3, sizeof(Narrow));
    return row;
  }
  HEDDLE_INLINE void put(double* to) const {
    std::memcpy(to, &wide, sizeof(Wide));
    std::memcpy(to + W * 2 / 3, &narrow, sizeof(Narrow));
  }
  HEDDLE_INLINE void add(double factor, const RowInRegisters& other) {
    wide += factor * other.wide;
    narrow += factor * other.narrow;
  }
};

/// The sum of the terms of one tile, for tiles of H x M and M x W numbers; sizes of 0 are those of
/// the shapes.
template <Ring R, int H, int M, int W>
HEDDLE_INLINE void sum_terms(const TileMatrix& a, const TileMatrix& b,
                             const ProductTerms::Term* begin, const ProductTerms::Term* end,
                             double* to) {
  constexpr int r = ring_size(R);
  if constexpr (R == Ring::real && (W == 3 || W == 6)) {
    RowInRegisters<W> sum[H] = {};
    for (const ProductTerms::Term* term = begin; term != end; ++term) {
      const double* const left = a.values.data() + term->left * Offset{H * M};
      const double* const right = b.values.data() + term->right * Offset{M * W};
#pragma GCC unroll 6
      for (int m = 0; m < M; ++m) {
        const auto row = RowInRegisters<W>::at(right + m * W);
#pragma GCC unroll 6
        for (int i = 0; i < H; ++i) sum[i].add(left[i * M + m], row);
      }
    }
#pragma GCC unroll 6
    for (int i = 0; i < H; ++i) sum[i].put(to + i * W);
  } else if constexpr (H > 0) {
    double sum[H * W * r] = {};
    for (const ProductTerms::Term* term = begin; term != end; ++term) {
      add_product_of_tiles<R>(sum, a.values.data() + term->left * Offset{H * M * r},
                              b.values.data() + term->right * Offset{M * W * r}, H, M, W);
    }
    std::copy_n(sum, H * W * r, to);
  } else {
    std::fill_n(to, a.shape.height * b.shape.width * r, double(0));
    for (const ProductTerms::Term* term = begin; term != end; ++term) {
      add_product_of_tiles<R>(to, a.tile(term->left), b.tile(term->right), a.shape.height,
                              a.shape.width, b.shape.width);
    }
  }
}

template <Ring R, int H, int M, int W>
void multiply_tiles(const TileMatrix& a, const TileMatrix& b, const ProductTerms& terms,
                    TileMatrix& c, const Stream& host) {
  const Offset* const first = terms.first.data();
  const bool is_mirrored = !terms.mirror.empty();
  const auto sum_row = [&](Index row) {
    const Offset end = c.pattern.begin(row + 1);
    for (Offset k = is_mirrored ? begin_in(c, row, row) : c.pattern.begin(row); k < end; ++k) {
      sum_terms<R, H, M, W>(a, b, terms.terms.data() + first[k], terms.terms.data() + first[k + 1],
                            c.tile(k));
      if (!is_mirrored) continue;
      const Offset other = terms.mirror[static_cast<std::size_t>(k)];
      if (other != k) put_conjugate_transpose(c.shape, c.tile(k), c.tile(other));
    }
  };
  const auto work = static_cast<long long>(terms.terms.size()) * c.shape.scalars() * a.shape.width;
  const int team = team_size(host, work + c.pattern.entries());
  constexpr bool is_wide = R != Ring::real || H * M * W != 1;
  if (is_wide && has_avx2()) {
    return parallel_for(team, c.rows(), product_rows_at_once,
                        [&](Index row) { run_by_avx2_fused([&] { sum_row(row); }); });
  }
  parallel_for(team, c.rows(), product_rows_at_once, sum_row);
}

/// With the sizes of tiles that occur most as constants.
template <Ring R>
void multiply_over(const TileMatrix& a, const TileMatrix& b, const ProductTerms& terms,
                   TileMatrix& c, const Stream& host) {
  const auto are = [&](int height, int middle, int width) {
    return a.shape.height == height && a.shape.width == middle && b.shape.width == width;
  };
  if (are(1, 1, 1)) return multiply_tiles<R, 1, 1, 1>(a, b, terms, c, host);
  if constexpr (R == Ring::real) {
    if (are(3, 3, 3)) return multiply_tiles<R, 3, 3, 3>(a, b, terms, c, host);
    if (are(3, 3, 6)) return multiply_tiles<R, 3, 3, 6>(a, b, terms, c, host);
    if (are(6, 3, 6)) return multiply_tiles<R, 6, 3, 6>(a, b, terms, c, host);
    if (are(6, 6, 6)) return multiply_tiles<R, 6, 6, 6>(a, b, terms, c, host);
  }
  multiply_tiles<R, 0, 0, 0>(a, b, terms, c, host);
}

}  // namespace

TileMatrix product_pattern(const TileMatrix& a, const TileMatrix& b, const Stream& host) {
  TileMatrix c;
  c.shape = {a.shape.height, b.shape.width, a.shape.ring};
  c.columns = b.columns;
  product_pattern(a.pattern.view(a.columns), b.pattern.view(b.columns), host, c.pattern.offsets,
                  c.pattern.column);
  c.make_values();
  return c;
}

ProductTerms product_terms(const TileMatrix& a, const TileMatrix& b, const TileMatrix& c,
                           bool is_hermitian, const Stream& host) {
  constexpr Offset most = std::numeric_limits<std::uint32_t>::max();
  if (a.pattern.entries() > most || b.pattern.entries() > most) {
    throw Error(ErrorKind::memory, "multigrid: a level has more than 2^32 entries");
  }
  ProductTerms found;
  if (is_hermitian && c.rows() == c.columns) {
    const UserRows turned = transposed(c.pattern, c.columns, found.mirror);
    if (!is_same(turned, c.pattern)) found.mirror = {};
  }
  const bool is_upper = !found.mirror.empty();
  const int team =
      team_beside(team_size(host, a.pattern.entries() * 8LL), c.pattern.entries(), b.columns);
  Array<Offset> of_row(static_cast<std::size_t>(c.rows()) + 1);
  parallel_for(team, c.rows(), product_rows_at_once, [&](Index row) {
    Offset count = 0;
    for_each_term(a, b, row, is_upper, [&](Offset, Offset) { ++count; });
    of_row[static_cast<std::size_t>(row) + 1] = count;
  });
  sum_up(of_row);
  found.first = Array<Offset>(static_cast<std::size_t>(c.pattern.entries()) + 1);
  found.terms = Array<ProductTerms::Term>(static_cast<std::size_t>(of_row[of_row.size() - 1]));
  found.first[found.first.size() - 1] = of_row[of_row.size() - 1];
  ColumnPlaces places;
  places.reserve(team, static_cast<std::size_t>(b.columns));
  numbered_shares(team, c.rows(), product_rows_at_once, [&](int thread, auto&& for_each) {
    Index* const place = places.of_thread(thread);  // in the row of C
    std::vector<Offset> next;
    for_each([&](Index row) {
      const std::span<const Index> columns = c.pattern.row(row);
      for (std::size_t k = 0; k < columns.size(); ++k) place[columns[k]] = static_cast<Index>(k);
      next.assign(columns.size(), 0);
      const auto place_of = [&](Offset j) {
        return static_cast<std::size_t>(place[b.pattern.column[static_cast<std::size_t>(j)]]);
      };
      for_each_term(a, b, row, is_upper, [&](Offset, Offset j) { ++next[place_of(j)]; });
      Offset begin = of_row[static_cast<std::size_t>(row)];
      for (std::size_t k = 0; k < columns.size(); ++k) {
        found.first[static_cast<std::size_t>(c.pattern.begin(row)) + k] = begin;
        begin += std::exchange(next[k], begin);
      }
      for_each_term(a, b, row, is_upper, [&](Offset i, Offset j) {
        found.terms[static_cast<std::size_t>(next[place_of(j)]++)] = {
            static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)};
      });
    });
  });
  return found;
}

void multiply(const TileMatrix& a, const TileMatrix& b, const ProductTerms& terms, TileMatrix& c,
              const Stream& host) {
  switch (a.shape.ring) {
    case ring_size(Ring::real):
      return multiply_over<Ring::real>(a, b, terms, c, host);
    case ring_size(Ring::complex):
      return multiply_over<Ring::complex>(a, b, terms, c, host);
    default:
      return multiply_over<Ring::quaternion>(a, b, terms, c, host);
  }
}

}  // namespace heddle::detail
