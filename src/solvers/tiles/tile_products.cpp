#include "tile_products.hpp"

#include <algorithm>
#include <cstring>
#include <limits>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/detail/wide_loop.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

namespace {

bool is_same(const UserRows& a, const UserRows& b) {
  return std::equal(a.offsets.begin(), a.offsets.end(), b.offsets.begin(), b.offsets.end()) &&
         std::equal(a.column.begin(), a.column.end(), b.column.begin(), b.column.end());
}

/// The first entry of a row of B from a column on.
Offset begin_in(const TileMatrix& b, Index row, Index column) {
  const std::span<const Index> columns = b.pattern.row(row);
  return b.pattern.begin(row) +
         (std::lower_bound(columns.begin(), columns.end(), column) - columns.begin());
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

/// c += a b for tiles of H x M and M x W numbers; sizes of 0 are those of the shapes.
template <Ring R, int H, int M, int W>
HEDDLE_INLINE void add_tile_product(double* c, const double* a, const double* b,
                                    const TileShape& of_a, int width) {
  if constexpr (R == Ring::real && (W == 3 || W == 6)) {
    RowInRegisters<W> rows[M];
#pragma GCC unroll 6
    for (Offset m = 0; m < M; ++m) rows[m] = RowInRegisters<W>::at(b + m * W);
#pragma GCC unroll 6
    for (Offset i = 0; i < H; ++i) {
      auto sum = RowInRegisters<W>::at(c + i * W);
#pragma GCC unroll 6
      for (Offset m = 0; m < M; ++m) sum.add(a[i * M + m], rows[m]);
      sum.put(c + i * W);
    }
  } else if constexpr (H > 0) {
    add_product_of_tiles<R>(c, a, b, H, M, W);
  } else {
    add_product_of_tiles<R>(c, a, b, of_a.height, of_a.width, width);
  }
}

/// A row of a sparse matrix: its tiles, and the rows of B that belong to them.
struct RowOfFactor {
  const Index* begin;
  const Index* end;
  const double* tiles;
};

/// Sums of the terms of a row of C, of real numbers. A separate function: within another, GCC keeps
/// its pointers on the stack.
template <class Place>
[[gnu::noinline]] void add_terms(const RowOfFactor& of_a, const Offset* begins, const double* right,
                                 const Place* place, double* sums) {
  const double* left = of_a.tiles;
  for (const Index* middle = of_a.begin; middle != of_a.end; ++middle) {
    const double factor = *left++;
    const Offset end = begins[*middle + 1];
    for (Offset j = begins[*middle]; j < end; ++j) {
      const auto at = static_cast<Offset>(*place++);
      sums[at] += factor * right[j];
    }
  }
}

template <Ring R, int H, int M, int W, class Place>
void multiply_tiles(const TileMatrix& a, const TileMatrix& b, const ProductPlaces& places,
                    const UnsetArray<Place>& of_terms, TileMatrix& c, const Stream& host) {
  constexpr int r = ring_size(R);
  const Offset of_left = H > 0 ? H * M * r : a.shape.scalars();
  [[maybe_unused]] const Offset of_right = H > 0 ? M * W * r : b.shape.scalars(),
                                of_sum = H > 0 ? H * W * r : c.shape.scalars();
  const bool is_mirrored = !places.mirror.empty();
  const Offset* const begins = b.pattern.offsets.data();
  const double *const left = a.values.data(), *const right = b.values.data();
  const auto sum_row = [&](Index row) {
    const Place* place = of_terms.data() + places.first[static_cast<std::size_t>(row)];
    const Offset own = is_mirrored ? begin_in(c, row, row) : c.pattern.begin(row);
    double* const sums = c.tile(c.pattern.begin(row));
    std::fill(c.tile(own), c.tile(c.pattern.begin(row + 1)), double(0));
    const std::span<const Index> middles = a.pattern.row(row);
    const double* tile = left + a.pattern.begin(row) * of_left;
    if constexpr (R == Ring::real && H * M * W == 1) {
      add_terms({middles.data(), middles.data() + middles.size(), tile}, begins, right, place,
                sums);
    } else {
      const Place* left_out = std::exchange(place, place + (is_mirrored ? middles.size() : 0));
      for (const Index middle : middles) {
        Offset j = begins[middle];
        if (is_mirrored) j += *left_out++;
        for (const Offset last = begins[middle + 1]; j < last; ++j) {
          add_tile_product<R, H, M, W>(sums + *place++ * of_sum, tile, right + j * of_right,
                                       a.shape, b.shape.width);
        }
        tile += of_left;
      }
    }
    if (!is_mirrored) return;
    for (Offset k = own; k < c.pattern.begin(row + 1); ++k) {
      const Offset other = places.mirror[static_cast<std::size_t>(k)];
      if (other != k) put_conjugate_transpose(c.shape, c.tile(k), c.tile(other));
    }
  };
  const auto work = static_cast<long long>(of_terms.size()) * c.shape.scalars() * a.shape.width;
  const int team = team_size(host, work + c.pattern.entries());
  constexpr bool is_wide = R != Ring::real || H * M * W != 1;
  // Few rows of a coarse level are shared by all.
  const Offset at_once = std::clamp<Offset>(c.rows() / (4 * team), 1, product_rows_at_once);
  parallel_shares(team, c.rows(), at_once, [&](auto&& for_each) {
    if (is_wide && has_avx2()) {
      for_each([&](Index row) { run_by_avx2_fused([&] { sum_row(row); }); });
    } else {
      for_each([&](Index row) { sum_row(row); });
    }
  });
}

/// Multiplies with the most frequent sizes of tiles as constants.
template <Ring R, class Place>
void multiply_over(const TileMatrix& a, const TileMatrix& b, const ProductPlaces& places,
                   const UnsetArray<Place>& of_terms, TileMatrix& c, const Stream& host) {
  const auto run = [&]<int H, int M, int W>() {
    multiply_tiles<R, H, M, W>(a, b, places, of_terms, c, host);
  };
  const auto are = [&](int height, int middle, int width) {
    return a.shape.height == height && a.shape.width == middle && b.shape.width == width;
  };
  if (are(1, 1, 1)) return run.template operator()<1, 1, 1>();
  if constexpr (R == Ring::real && !std::is_same_v<Place, std::uint32_t>) {
    if (are(3, 3, 3)) return run.template operator()<3, 3, 3>();
    if (are(3, 3, 6)) return run.template operator()<3, 3, 6>();
    if (are(6, 3, 6)) return run.template operator()<6, 3, 6>();
    if (are(6, 6, 6)) return run.template operator()<6, 6, 6>();
  }
  run.template operator()<0, 0, 0>();
}

/// Calls `run` with the array of places in use.
template <class Places, class Run>
void with_places(Places& places, std::size_t longest, const Run& run) {
  if (longest <= std::numeric_limits<std::uint8_t>::max()) return run(places.bytes);
  if (longest <= std::numeric_limits<std::uint16_t>::max()) return run(places.halves);
  run(places.words);
}

}  // namespace

namespace {

/// Calls `body(middle, begin, end)` for the tiles of B that a row of A is multiplied by, from the
/// diagonal of C on if `is_upper`.
template <class Body>
void for_each_share(const TileMatrix& a, const TileMatrix& b, Index row, bool is_upper,
                    const Body& body) {
  for (const Index middle : a.pattern.row(row)) {
    body(middle, is_upper ? begin_in(b, middle, row) : b.pattern.begin(middle),
         b.pattern.begin(middle + 1));
  }
}

/// The first place of each row's terms.
Array<Offset> first_places(const TileMatrix& a, const TileMatrix& b, bool is_upper,
                           const Stream& host) {
  Array<Offset> first(static_cast<std::size_t>(a.rows()) + 1);
  const int team = team_size(host, a.pattern.entries());
  parallel_for(team, a.rows(), product_rows_at_once, [&](Index row) {
    Offset count = 0;
    for_each_share(a, b, row, is_upper,
                   [&](Index, Offset begin, Offset end) { count += end - begin + is_upper; });
    first[static_cast<std::size_t>(row) + 1] = count;
  });
  sum_up(first);
  return first;
}

template <class Place>
void list_places(const TileMatrix& a, const TileMatrix& b, const TileMatrix& c, const Stream& host,
                 ProductPlaces& places, UnsetArray<Place>& of_terms) {
  const bool is_upper = !places.mirror.empty();
  const int team =
      team_with_columns(team_size(host, a.pattern.entries() * 8LL), c.pattern.entries(), b.columns);
  of_terms = UnsetArray<Place>(static_cast<std::size_t>(places.first[places.first.size() - 1]));
  ColumnPlaces scratch;
  scratch.reserve(team, static_cast<std::size_t>(b.columns));
  numbered_shares(team, c.rows(), product_rows_at_once, [&](int thread, auto&& for_each) {
    Index* const place = scratch.of_thread(thread);  // in the row of C
    for_each([&](Index row) {
      Index next = 0;
      for (const Index column : c.pattern.row(row)) place[column] = next++;
      Place* left_out = of_terms.data() + places.first[static_cast<std::size_t>(row)];
      Place* to = left_out + (is_upper ? a.pattern.row(row).size() : 0);
      for_each_share(a, b, row, is_upper, [&](Index middle, Offset begin, Offset end) {
        if (is_upper) *left_out++ = static_cast<Place>(begin - b.pattern.begin(middle));
        for (Offset j = begin; j < end; ++j) {
          *to++ = static_cast<Place>(place[b.pattern.column[static_cast<std::size_t>(j)]]);
        }
      });
    });
  });
}

}  // namespace

TileMatrix product_pattern(const TileMatrix& a, const TileMatrix& b, bool is_hermitian,
                           const Stream& host, ProductPlaces& places) {
  TileMatrix c;
  c.shape = {a.shape.height, b.shape.width, a.shape.ring};
  c.columns = b.columns;
  places = {};
  const bool may_be_half = is_hermitian && a.rows() == b.columns && c.shape.scalars() > 1;
  TermPlaces terms;  // assuming that bytes suffice
  const Index longest =
      product_pattern(a.pattern.view(a.columns), b.pattern.view(b.columns), host, c.pattern.offsets,
                      c.pattern.column, may_be_half ? nullptr : &terms);
  c.make_values();
  places.longest = static_cast<std::size_t>(longest);
  if (may_be_half) {
    const UserRows transpose = transposed(c.pattern, c.columns, host, places.mirror);
    if (!is_same(transpose, c.pattern)) places.mirror = {};
    places.first = first_places(a, b, !places.mirror.empty(), host);
  } else {
    places.first = std::move(terms.first);
    if (places.longest <= std::numeric_limits<std::uint8_t>::max()) {
      places.bytes = std::move(terms.place);
      return c;
    }
  }
  with_places(places, places.longest,
              [&](auto& of_terms) { list_places(a, b, c, host, places, of_terms); });
  return c;
}

TileMatrix product(const TileMatrix& a, const TileMatrix& b, ProductUse use, const Stream& host,
                   ProductPlaces& places) {
  if (a.shape.scalars() > 1 || b.shape.scalars() > 1) {
    TileMatrix c = product_pattern(a, b, use == ProductUse::hermitian, host, places);
    multiply(a, b, places, c, host);
    return c;
  }
  TileMatrix c;
  c.columns = b.columns;
  ProductNumbers numbers{
      .left = a.values.data(), .right = b.values.data(), .is_sorted = use != ProductUse::factor};
  places = {};
  places.longest = static_cast<std::size_t>(
      multiply_numbers(a.pattern.view(a.columns), b.pattern.view(b.columns), host,
                       c.pattern.offsets, c.pattern.column, numbers));
  c.values = std::move(numbers.result);
  return c;
}

void list_terms(const TileMatrix& a, const TileMatrix& b, const TileMatrix& c,
                ProductPlaces& places, const Stream& host) {
  if (!places.first.empty()) return;
  ProductPlaces found;  // whole, or not at all
  found.longest = places.longest;
  found.first = first_places(a, b, false, host);
  with_places(found, found.longest,
              [&](auto& of_terms) { list_places(a, b, c, host, found, of_terms); });
  places = std::move(found);
}

void multiply(const TileMatrix& a, const TileMatrix& b, const ProductPlaces& places, TileMatrix& c,
              const Stream& host) {
  with_places(places, places.longest, [&](const auto& of_terms) {
    switch (a.shape.ring) {
      case ring_size(Ring::real):
        return multiply_over<Ring::real>(a, b, places, of_terms, c, host);
      case ring_size(Ring::complex):
        return multiply_over<Ring::complex>(a, b, places, of_terms, c, host);
      default:
        return multiply_over<Ring::quaternion>(a, b, places, of_terms, c, host);
    }
  });
}

}  // namespace heddle::detail
