// Patterns of products as kernels find them, lane by lane on the CPU, against the CPU's own.
#include "solvers/tiles/pattern_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "solvers/tiles/tile_products.hpp"
#include "support/lanes_in_turn.hpp"
#include "support/random_matrix.hpp"

namespace heddle::test::pattern_rows {
namespace {

using detail::ProductPlaces, detail::TileMatrix, detail::TileShape;

const Device host = Device::cpu(1);

struct Lanes : LanesInTurn {
  Index take(Index* place, Index none, Index column) const {
    return *place == none ? std::exchange(*place, column) : *place;
  }
  int add(int* sum, int value) const { return std::exchange(*sum, *sum + value); }
  void mark(unsigned* word, unsigned bit) const { *word |= bit; }
  void lower(int* least, int value) const { *least = std::min(*least, value); }
  void raise(int* most, int value) const { *most = std::max(*most, value); }
};

constexpr Lanes teams[] = {{1, false}, {4, false}, {4, true}, {8, true}};

TileMatrix tiles_of(const Pattern& pattern, const TileShape& shape) {
  TileMatrix a;
  a.shape = shape;
  a.columns = pattern.columns;
  a.pattern.offsets = Array<Offset>(std::span<const Offset>(pattern.offsets));
  a.pattern.column = Array<Index>(std::span<const Index>(pattern.column));
  return a;
}

device::TilePattern view_of(const TileMatrix& a) {
  return {a.rows(), a.pattern.offsets.data(), a.pattern.column.data()};
}

/// Finds rows of up to `columns` columns with a table, longer ones with bits.
void expect_rows(const TileMatrix& a, const TileMatrix& b, const TileMatrix& c, const Lanes& team,
                 int columns, int max_terms, bool keeps) {
  SCOPED_TRACE(std::to_string(team.lanes) + " lanes, room for " + std::to_string(columns));
  const auto size_of_table = static_cast<std::size_t>(2 * columns);
  std::vector<Index> table(size_of_table), list(size_of_table / 2);
  std::vector<unsigned> bits(static_cast<std::size_t>(b.columns) / 32 + 1);
  std::vector<int> counts(static_cast<std::size_t>(team.lanes));
  std::vector<Offset> offsets(c.pattern.offsets.begin(), c.pattern.offsets.end());
  std::vector<Index> column(c.pattern.column.size() + 1, -7);
  int terms = 0, met = 0, has_long = 0, least = 0, greatest = 0;
  const device::MeetingWorkspace workspace{table.data(), list.data(), &terms,    &met,
                                           &has_long,    columns,     max_terms, keeps};
  const device::MarkedColumns marked{bits.data(), &least, &greatest, &has_long, counts.data()};
  constexpr int max_kept = 8;
  std::vector<Index> kept(static_cast<std::size_t>(a.rows()) * max_kept);
  std::vector<bool> is_left(static_cast<std::size_t>(a.rows()));
  for (const bool puts : {false, true}) {
    device::PatternRows rows{
        view_of(a),  view_of(b), 2, offsets.data(), puts ? column.data() : nullptr,
        kept.data(), max_kept};
    for (Index row = 0; row < a.rows(); ++row) {
      const Offset length = c.pattern.begin(row + 1) - c.pattern.begin(row);
      const auto at = static_cast<std::size_t>(row);
      const Offset offset = offsets[at];
      const bool is_found = device::find_row(team, rows, row, workspace);
      if (!puts) {
        is_left[at] = !is_found;
        EXPECT_TRUE(is_found || length > columns || terms > max_terms) << row;
      }
      if (is_left[at]) device::find_long_row(team, rows, row, marked);
      if (!puts) {
        EXPECT_EQ(std::exchange(offsets[at], offset), length) << row;
      }
    }
  }
  EXPECT_EQ(column.back(), -7);
  column.pop_back();
  EXPECT_EQ(column, std::vector<Index>(c.pattern.column.begin(), c.pattern.column.end()));
  EXPECT_EQ(bits, std::vector<unsigned>(bits.size()));
}

template <class Expected>
void expect_places(const device::PlaceRows& rows, const Expected& expected) {
  using Place = std::remove_cvref_t<decltype(expected[0])>;
  constexpr int columns = 32;
  std::vector<Index> list(columns);
  int has_long = 0;
  const device::MeetingWorkspace workspace{nullptr,   list.data(), nullptr, nullptr,
                                           &has_long, columns,     1 << 20};
  for (const Lanes& team : teams) {
    std::vector<Place> places(expected.size() + 1, 77);
    for (Index row = 0; row < rows.c.rows; ++row) {
      EXPECT_TRUE(device::place_row(team, rows, row, workspace, places.data()));
    }
    EXPECT_EQ(places.back(), 77);
    places.pop_back();
    EXPECT_EQ(places, std::vector<Place>(expected.begin(), expected.end()));
  }
}

void expect_places(const TileMatrix& a, const TileMatrix& b, const TileMatrix& c,
                   const ProductPlaces& places) {
  const Offset entries = a.pattern.entries();
  std::vector<Index> row;
  for (Index i = 0; i < a.rows(); ++i) {
    row.resize(static_cast<std::size_t>(a.pattern.begin(i + 1)), i);
  }
  std::vector<Offset> first(static_cast<std::size_t>(entries) + 1);
  const device::PlaceRows rows{{view_of(a), view_of(b), 2},
                               view_of(c),
                               places.mirror.empty() ? nullptr : row.data(),
                               first.data()};
  for (Offset e = 0; e < entries; ++e) {
    first[static_cast<std::size_t>(e) + 1] = first[static_cast<std::size_t>(e)] + rows.terms_of(e);
  }
  for (Index i = 0; i <= a.rows(); ++i) {
    EXPECT_EQ(first[static_cast<std::size_t>(a.pattern.begin(i))],
              places.first[static_cast<std::size_t>(i)]);
  }
  if (places.longest <= 255) return expect_places(rows, places.bytes);
  expect_places(rows, places.halves);
}

void expect_product(const TileMatrix& a, const TileMatrix& b, bool is_hermitian) {
  ProductPlaces places;
  const TileMatrix c = product_pattern(a, b, is_hermitian, host.stream(), places);
  for (const Lanes& team : teams) {
    for (const bool keeps : {false, true}) {
      expect_rows(a, b, c, team, 32, 1000, keeps);
      expect_rows(a, b, c, team, 32, 20, keeps);
      expect_rows(a, b, c, team, 512, 100000, keeps);
    }
  }
  expect_places(a, b, c, places);
}

TEST(PatternRows, AreThoseOfTheCpu) {
  Seed seed(7101);
  for (const PatternRequest& request : odd_rectangular_patterns()) {
    SCOPED_TRACE(request.name);
    const auto a = tiles_of(random_pattern(request, seed.generator), {2, 2, 1});
    PatternRequest of_b{.rows = request.columns, .columns = 300, .per_row = 3, .empty_rows = true};
    expect_product(a, tiles_of(random_pattern(of_b, seed.generator), {2, 3, 1}), false);
    of_b.dense_row = request.columns > 0;
    expect_product(a, tiles_of(random_pattern(of_b, seed.generator), {2, 3, 1}), false);
  }
}

TEST(PatternRows, OfAHermitianProductAreHalf) {
  Seed seed(7102);
  for (const bool dense_row : {false, true}) {
    const PatternRequest request{
        .rows = 290, .columns = 290, .per_row = 2, .dense_row = dense_row, .diagonal = true};
    const auto a = tiles_of(random_pattern(request, seed.generator), {2, 2, 1});
    Array<Offset> place;
    const TileMatrix transpose = adjoint_pattern(a, host.stream(), place);
    expect_product(transpose, a, true);
    expect_product(a, a, true);  // not symmetric
  }
}

}  // namespace
}  // namespace heddle::test::pattern_rows
