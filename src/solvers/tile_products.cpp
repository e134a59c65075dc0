#include "tile_products.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
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

/// Where terms of a row of C find their tiles.
struct RowBegins {
  Offset of_left;          // of A's row
  const Offset* of_right;  // of B's row for each tile in it
};

HEDDLE_INLINE Offset left_of(const ProductTerms::Term& term, const RowBegins& begins) {
  return begins.of_left + term.left;
}
HEDDLE_INLINE Offset right_of(const ProductTerms::Term& term, const RowBegins& begins) {
  return begins.of_right[term.left] + term.right;
}
HEDDLE_INLINE Offset left_of(const ProductTerms::WideTerm& term, const RowBegins&) {
  return term.left;
}
HEDDLE_INLINE Offset right_of(const ProductTerms::WideTerm& term, const RowBegins&) {
  return term.right;
}

/// The sum of the terms of one tile, for tiles of H x M and M x W numbers; sizes of 0 are those of
/// the shapes.
template <Ring R, int H, int M, int W, class Term>
HEDDLE_INLINE void sum_terms(const TileMatrix& a, const TileMatrix& b, const RowBegins& begins,
                             const Term* begin, const Term* end, double* to) {
  constexpr int r = ring_size(R);
  const auto left = [&](const Term& term) {
    const Offset of_tile = H > 0 ? Offset{H} * M * r : Offset{a.shape.scalars()};
    return a.values.data() + left_of(term, begins) * of_tile;
  };
  const auto right = [&](const Term& term) {
    const Offset of_tile = H > 0 ? Offset{M} * W * r : Offset{b.shape.scalars()};
    return b.values.data() + right_of(term, begins) * of_tile;
  };
  if constexpr (R == Ring::real && (W == 3 || W == 6)) {
    RowInRegisters<W> sum[H] = {};
    for (const Term* term = begin; term != end; ++term) {
      const double *const of_a = left(*term), *const of_b = right(*term);
#pragma GCC unroll 6
      for (Offset m = 0; m < M; ++m) {
        const auto row = RowInRegisters<W>::at(of_b + m * W);
#pragma GCC unroll 6
        for (Offset i = 0; i < H; ++i) sum[i].add(of_a[i * M + m], row);
      }
    }
#pragma GCC unroll 6
    for (Offset i = 0; i < H; ++i) sum[i].put(to + i * W);
  } else if constexpr (R == Ring::real && H * M * W == 1) {
    // Four sums: one would wait for each addition.
    double sum[4] = {};
    const Term* term = begin;
    for (; term + 4 <= end; term += 4) {
#pragma GCC unroll 4
      for (int k = 0; k < 4; ++k) sum[k] += *left(term[k]) * *right(term[k]);
    }
    for (int k = 0; term != end; ++term, ++k) sum[k] += *left(*term) * *right(*term);
    *to = (sum[0] + sum[1]) + (sum[2] + sum[3]);
  } else if constexpr (H > 0) {
    double sum[H * W * r] = {};
    for (const Term* term = begin; term != end; ++term) {
      add_product_of_tiles<R>(sum, left(*term), right(*term), H, M, W);
    }
    std::copy_n(sum, H * W * r, to);
  } else {
    std::fill_n(to, a.shape.height * b.shape.width * r, double(0));
    for (const Term* term = begin; term != end; ++term) {
      add_product_of_tiles<R>(to, left(*term), right(*term), a.shape.height, a.shape.width,
                              b.shape.width);
    }
  }
}

template <Ring R, int H, int M, int W, class Term>
void multiply_tiles(const TileMatrix& a, const TileMatrix& b, const ProductTerms& found,
                    std::span<const Term> terms, TileMatrix& c, SetupScratch& scratch,
                    const Stream& host) {
  const Offset* const first = found.first.data();
  const bool is_mirrored = !found.mirror.empty();
  const auto sum_row = [&](Index row, Offset* begins) {
    const Offset begin = a.pattern.begin(row);
    if constexpr (std::is_same_v<Term, ProductTerms::Term>) {
      for (const Index middle : a.pattern.row(row)) *begins++ = b.pattern.begin(middle);
      begins -= a.pattern.row(row).size();
    }
    const Offset end = c.pattern.begin(row + 1);
    for (Offset k = is_mirrored ? begin_in(c, row, row) : c.pattern.begin(row); k < end; ++k) {
      sum_terms<R, H, M, W>(a, b, RowBegins{begin, begins}, terms.data() + first[k],
                            terms.data() + first[k + 1], c.tile(k));
      if (!is_mirrored) continue;
      const Offset other = found.mirror[static_cast<std::size_t>(k)];
      if (other != k) put_conjugate_transpose(c.shape, c.tile(k), c.tile(other));
    }
  };
  const auto work = static_cast<long long>(terms.size()) * c.shape.scalars() * a.shape.width;
  const int team = team_size(host, work + c.pattern.entries());
  scratch.begins.reserve(team, found.longest_row);
  constexpr bool is_wide = R != Ring::real || H * M * W != 1;
  numbered_shares(team, c.rows(), product_rows_at_once, [&](int thread, auto&& for_each) {
    Offset* const begins = scratch.begins.of_thread(thread);
    if (is_wide && has_avx2()) {
      for_each([&](Index row) { run_by_avx2_fused([&] { sum_row(row, begins); }); });
    } else {
      for_each([&](Index row) { sum_row(row, begins); });
    }
  });
}

/// With the sizes of tiles that occur most as constants.
template <Ring R>
void multiply_over(const TileMatrix& a, const TileMatrix& b, const ProductTerms& found,
                   TileMatrix& c, SetupScratch& scratch, const Stream& host) {
  const auto run = [&]<int H, int M, int W, class Term>(const Array<Term>& terms) {
    multiply_tiles<R, H, M, W, Term>(a, b, found, terms.span(), c, scratch, host);
  };
  if (!found.wide_terms.empty()) return run.template operator()<0, 0, 0>(found.wide_terms);
  const auto are = [&](int height, int middle, int width) {
    return a.shape.height == height && a.shape.width == middle && b.shape.width == width;
  };
  if (are(1, 1, 1)) return run.template operator()<1, 1, 1>(found.terms);
  if constexpr (R == Ring::real) {
    if (are(3, 3, 3)) return run.template operator()<3, 3, 3>(found.terms);
    if (are(3, 3, 6)) return run.template operator()<3, 3, 6>(found.terms);
    if (are(6, 3, 6)) return run.template operator()<6, 3, 6>(found.terms);
    if (are(6, 6, 6)) return run.template operator()<6, 6, 6>(found.terms);
  }
  run.template operator()<0, 0, 0>(found.terms);
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

namespace {

std::size_t longest_row(const TileMatrix& a) {
  std::size_t longest = 0;
  for (Index row = 0; row < a.rows(); ++row) longest = std::max(longest, a.pattern.row(row).size());
  return longest;
}

/// Those of each row of C, and where each of its tiles begins.
template <class Term, class MakeTerm>
void list_terms(const TileMatrix& a, const TileMatrix& b, const TileMatrix& c, bool is_upper,
                int team, ProductTerms& found, Array<Term>& terms, const MakeTerm& make_term) {
  Array<Offset> of_row(static_cast<std::size_t>(c.rows()) + 1);
  parallel_for(team, c.rows(), product_rows_at_once, [&](Index row) {
    Offset count = 0;
    for_each_term(a, b, row, is_upper, [&](Offset, Offset) { ++count; });
    of_row[static_cast<std::size_t>(row) + 1] = count;
  });
  sum_up(of_row);
  const Offset all = of_row[of_row.size() - 1];
  found.first = Array<Offset>(static_cast<std::size_t>(c.pattern.entries()) + 1);
  terms = Array<Term>(static_cast<std::size_t>(all));
  found.first[found.first.size() - 1] = all;
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
        terms[static_cast<std::size_t>(next[place_of(j)]++)] = make_term(row, i, j);
      });
    });
  });
}

}  // namespace

ProductTerms product_terms(const TileMatrix& a, const TileMatrix& b, const TileMatrix& c,
                           bool is_hermitian, const Stream& host) {
  ProductTerms found;
  if (is_hermitian && c.rows() == c.columns) {
    const UserRows turned = transposed(c.pattern, c.columns, found.mirror);
    if (!is_same(turned, c.pattern)) found.mirror = {};
  }
  const bool is_upper = !found.mirror.empty();
  const int team =
      team_beside(team_size(host, a.pattern.entries() * 8LL), c.pattern.entries(), b.columns);
  found.longest_row = longest_row(a);
  constexpr std::size_t most_in_row = std::size_t{1} << 16;
  if (std::max(found.longest_row, longest_row(b)) <= most_in_row) {
    list_terms(a, b, c, is_upper, team, found, found.terms, [&](Index row, Offset i, Offset j) {
      const Index middle = a.pattern.column[static_cast<std::size_t>(i)];
      return ProductTerms::Term{static_cast<std::uint16_t>(i - a.pattern.begin(row)),
                                static_cast<std::uint16_t>(j - b.pattern.begin(middle))};
    });
    return found;
  }
  constexpr Offset most = std::numeric_limits<std::uint32_t>::max();
  if (std::max(a.pattern.entries(), b.pattern.entries()) > most) {
    throw Error(ErrorKind::memory,
                "multigrid: a level with a row of more than 2^16 entries has "
                "more than 2^32");
  }
  list_terms(a, b, c, is_upper, team, found, found.wide_terms, [](Index, Offset i, Offset j) {
    return ProductTerms::WideTerm{static_cast<std::uint32_t>(i), static_cast<std::uint32_t>(j)};
  });
  return found;
}

void multiply(const TileMatrix& a, const TileMatrix& b, const ProductTerms& terms, TileMatrix& c,
              SetupScratch& scratch, const Stream& host) {
  switch (a.shape.ring) {
    case ring_size(Ring::real):
      return multiply_over<Ring::real>(a, b, terms, c, scratch, host);
    case ring_size(Ring::complex):
      return multiply_over<Ring::complex>(a, b, terms, c, scratch, host);
    default:
      return multiply_over<Ring::quaternion>(a, b, terms, c, scratch, host);
  }
}

}  // namespace heddle::detail
