// A hierarchy's new values as kernels compute them, lane by lane on the CPU, against the CPU's own.
#include "solvers/tiles/tile_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <utility>
#include <vector>

#include "solvers/multigrid/aggregates.hpp"
#include "solvers/multigrid/coarse_inverse.hpp"
#include "solvers/tiles/dense_rows.hpp"
#include "solvers/tiles/level_spectrum.hpp"
#include "solvers/tiles/product_pieces.hpp"
#include "solvers/tiles/tile_products.hpp"
#include "support/lanes_in_turn.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::tile_rows {
namespace {

using detail::ProductPlaces, detail::TileMatrix, detail::TileShape;
const Device host = Device::cpu(1);

constexpr LanesInTurn teams[] = {{1, false}, {4, false}, {4, true}, {37, false}};

device::TilePattern pattern_of(const TileMatrix& a) {
  return {a.rows(), a.pattern.offsets.data(), a.pattern.column.data()};
}

std::vector<Offset> diagonal_of(const TileMatrix& a) {
  std::vector<Offset> diagonal;
  for (Index row = 0; row < a.rows(); ++row) {
    const auto columns = a.pattern.row(row);
    const auto at = std::find(columns.begin(), columns.end(), row) - columns.begin();
    diagonal.push_back(at < std::ssize(columns) ? a.pattern.begin(row) + at : -1);
  }
  return diagonal;
}

device::TermPlaces places_of(const ProductPlaces& places) {
  device::TermPlaces view;
  view.of_terms = places.bytes.data(), view.bytes = 1;
  if (!places.halves.empty()) view.of_terms = places.halves.data(), view.bytes = 2;
  if (!places.words.empty()) view.of_terms = places.words.data(), view.bytes = 4;
  view.first = places.first.data();
  view.mirror = places.mirror.empty() ? nullptr : places.mirror.data();
  return view;
}

template <class Found, class Expected>
void expect_near(const Found& found, const Expected& expected, double tolerance) {
  ASSERT_EQ(found.size(), expected.size());
  double squared = 0, size = 0;
  for (std::size_t i = 0; i < found.size(); ++i) {
    squared += (found[i] - expected[i]) * (found[i] - expected[i]);
    size += expected[i] * expected[i];
  }
  EXPECT_TRUE(std::sqrt(squared) <= tolerance * std::sqrt(size)) << squared << " of " << size;
}

detail::PieceSizes sizes_of_pieces(const TileMatrix& a, const TileMatrix& b, const TileMatrix& c,
                                   const ProductPlaces& places) {
  const double length = b.rows() > 0 ? static_cast<double>(b.pattern.entries()) / b.rows() : 0;
  return detail::sizes_of_pieces(a.pattern.offsets.span(), c.shape.height, c.shape.width,
                                 c.shape.ring, length, static_cast<Offset>(places.longest));
}

/// C by rows and by pieces of long rows: whole, in windows that longer rows exceed, and in place.
template <Ring R, int H, int M, int W>
void expect_product(const TileMatrix& a, const TileMatrix& b, const ProductPlaces& places,
                    TileMatrix& c) {
  multiply(a, b, places, c, host.stream());
  const std::vector<Offset> diagonal =
      c.rows() == c.columns ? diagonal_of(c) : std::vector<Offset>{};
  auto pieces = product_pieces(a.pattern.offsets.span(), sizes_of_pieces(a, b, c, places), host);
  std::vector<double> kept(static_cast<std::size_t>(pieces.sizes.count * pieces.sizes.sums_size));
  std::vector<double> sums(static_cast<std::size_t>(c.columns * c.shape.scalars()));
  for (const LanesInTurn& team : teams) {
    std::vector<device::EntryTerms> terms(static_cast<std::size_t>(team.lanes));
    for (const auto& [tiles, windows] : {std::pair<Offset, int>{c.columns, 1}, {2, 3}, {0, 1}}) {
      Array<double> result(c.values.size(), host, 0x7f);
      device::TileProduct product{pattern_of(a),     pattern_of(b),   pattern_of(c),
                                  a.values.data(),   b.values.data(), result.data(),
                                  places_of(places), diagonal.data(), a.shape.height,
                                  a.shape.width,     b.shape.width};
      product.windows = windows;
      const auto multiply_rows = [&](Index rows) {
        for (Index unit = 0; unit < rows * windows; ++unit) {
          device::multiply_row<R, H, M, W>(team, product, unit, sums.data(), tiles, terms.data());
        }
      };
      multiply_rows(c.rows());
      expect_near(result, c.values, 1e-14);
      if (pieces.sizes.count == 0) continue;
      std::fill(result.begin(), result.end(), NAN);
      std::fill(kept.begin(), kept.end(), NAN);
      product.pieces = pieces.view(kept.data());
      Offset* const at = pieces.place.data();
      for (Index row = 0; row < c.rows(); ++row) device::find_places(product, row, at);
      multiply_rows(pieces.sizes.count);
      const Offset numbers = pieces.sizes.sums_size / ring_size(R);
      for (Offset t = 0; t < c.rows() * numbers; ++t) {
        device::join_pieces<R>(product, static_cast<Index>(t / numbers), t % numbers);
      }
      expect_near(result, c.values, 1e-14);
    }
  }
}

/// Gives `a` these rows and random values.
void fill(TileMatrix& a, const std::vector<Offset>& offsets, const std::vector<Index>& column,
          Generator& generator) {
  a.pattern.offsets = Array<Offset>(std::span<const Offset>(offsets));
  a.pattern.column = Array<Index>(std::span<const Index>(column));
  a.make_values();
  for (double& value : a.values) value = uniform(generator);
}

/// Rows of up to `most` entries, some of them empty.
TileMatrix random_tiles(Index rows, Index columns, int most, const TileShape& shape,
                        Generator& generator) {
  std::vector<Offset> offsets{0};
  std::vector<Index> column;
  for (Index row = 0; row < rows; ++row) {
    const int count = std::uniform_int_distribution<int>(0, most)(generator);
    for (int k = 0; k < count; ++k) {
      const Index next = std::uniform_int_distribution<Index>(0, columns - 1)(generator);
      const auto begin = column.begin() + offsets.back();
      if (std::find(begin, column.end(), next) == column.end()) column.push_back(next);
    }
    std::sort(column.begin() + offsets.back(), column.end());
    offsets.push_back(static_cast<Offset>(column.size()));
  }
  TileMatrix a;
  a.shape = shape;
  a.columns = columns;
  fill(a, offsets, column, generator);
  return a;
}

/// B B* + 1, where B has a diagonal tile in every row, so that no row is empty.
TileMatrix hermitian_tiles(Index rows, const TileShape& shape, Generator& generator) {
  TileMatrix b = random_tiles(rows, rows, 3, shape, generator);
  std::vector<Offset> offsets{0};
  std::vector<Index> column;
  for (Index row = 0; row < rows; ++row) {
    for (const Index other : b.pattern.row(row)) {
      if (other != row) column.push_back(other);
    }
    column.push_back(row);
    std::sort(column.begin() + offsets.back(), column.end());
    offsets.push_back(static_cast<Offset>(column.size()));
  }
  fill(b, offsets, column, generator);
  Array<Offset> place;
  TileMatrix adjoint = adjoint_pattern(b, host.stream(), place);
  conjugate_transpose(b, place, adjoint, host.stream());
  ProductPlaces places;
  TileMatrix a = product_pattern(b, adjoint, true, host.stream(), places);
  multiply(b, adjoint, places, a, host.stream());
  for (const Offset entry : diagonal_of(a)) {
    for (int i = 0; i < shape.height; ++i) a.tile(entry)[(i * shape.height + i) * shape.ring] += 1;
  }
  return a;
}

/// A tile in most rows, and at least one in every column.
TileMatrix aggregated_tiles(Index rows, Index columns, const TileShape& shape,
                            Generator& generator) {
  TileMatrix t;
  t.shape = shape;
  t.columns = columns;
  std::vector<Offset> offsets{0};
  std::vector<Index> column;
  for (Index row = 0; row < rows; ++row) {
    if (row < columns || row % 5 != 0) column.push_back(row % columns);
    offsets.push_back(static_cast<Offset>(column.size()));
  }
  fill(t, offsets, column, generator);
  return t;
}

/// The steps of a refresh, one after another, each from the CPU's values.
template <Ring R, int V>
void expect_level(int size, Index rows, std::uint64_t number) {
  SCOPED_TRACE("tiles of " + std::to_string(size) + ", ring " + std::to_string(ring_size(R)));
  Seed seed(number);
  const TileShape shape{size, size, ring_size(R)};
  const TileMatrix a = hermitian_tiles(rows, shape, seed.generator);
  const TileMatrix t = aggregated_tiles(rows, rows / 4, shape, seed.generator);
  const Stream stream = host.stream();
  ProductPlaces to_p, to_image, to_coarse;
  TileMatrix p = product_pattern(a, t, false, stream, to_p);
  expect_product<R, V, V, V>(a, t, to_p, p);
  const TileMatrix image_of_t = p;

  const std::vector<Offset> diagonal = diagonal_of(a);
  const UnsetArray<double> inverses = inverse_diagonal(a, host.stream());
  Array<double> by_rows(inverses.size());
  Array<double> energies(static_cast<std::size_t>(rows)), by_energies(energies.size());
  device::DiagonalRows d{pattern_of(a), a.values.data(), diagonal.data(),
                         nullptr,       by_rows.data(),  by_energies.data(),
                         size};
  for (Index row = 0; row < rows; ++row) EXPECT_TRUE((device::invert_row<R, V>(d, row)));
  expect_near(by_rows, inverses, 1e-11);

  detail::SetupScratch scratch;
  smooth_prolongation(inverses, 0.3, t, p, scratch, stream);
  Array<Offset> place;
  TileMatrix restriction = adjoint_pattern(p, stream, place);
  conjugate_transpose(p, place, restriction, stream);
  TileMatrix image = product_pattern(a, p, false, stream, to_image);
  expect_product<R, V, V, V>(a, p, to_image, image);
  TileMatrix coarse = product_pattern(restriction, image, true, stream, to_coarse);
  expect_product<R, V, V, V>(restriction, image, to_coarse, coarse);
  EXPECT_EQ(sizes_of_pieces(restriction, image, coarse, to_coarse).count > 0, rows > 20);

  Array<double> scales(static_cast<std::size_t>(coarse.rows()));
  energy_scales(a, {}, restriction, energies, scales, stream);
  expect_near(by_energies, energies, 0);
  TileMatrix mended = coarse;
  mend_diagonal(mended, scales.span(), 1e-10, scratch, stream);
  const std::vector<Offset> coarse_diagonal = diagonal_of(coarse);
  detail::SpectrumWorkspace spectrum(a, host);
  const double largest = largest_eigenvalue(a, inverses, {}, spectrum, host);
  may_exceed(a, inverses, largest, true, spectrum, host);
  for (const LanesInTurn& team : teams) {
    Array<double> smoothed(p.values.size()), adjoint(p.values.size());
    const device::SmoothedRows s{
        pattern_of(p), pattern_of(t),   image_of_t.values.data(), t.values.data(), inverses.data(),
        0.3,           smoothed.data(), adjoint.data(),           place.data(),    size,
        size};
    for (Index row = 0; row < rows; ++row) device::smooth_row<R, V, V>(team, s, row);
    expect_near(smoothed, p.values, 1e-14);
    expect_near(adjoint, restriction.values, 1e-14);

    TileMatrix by_team = coarse;
    Array<double> found(scales.size()),
        tiles_workspace(scales.size() * static_cast<std::size_t>(shape.scalars() + size));
    device::MendedRows m;
    m.restriction = pattern_of(restriction), m.adjoint = restriction.values.data();
    m.energies = energies.data(), m.scales = found.data(), m.values = by_team.values.data();
    m.diagonal = coarse_diagonal.data(), m.scratch = tiles_workspace.data();
    m.rounding = 1e-10, m.least = detail::min_energy;
    m.size = size, m.of_tile = shape.scalars();
    for (Index row = 0; row < coarse.rows(); ++row) {
      EXPECT_TRUE(device::mend_row<R>(team, m, row));
    }
    expect_near(found, scales, 1e-14);
    expect_near(by_team.values, mended.values, 1e-12);

    // Sums that are known, and sums that have grown beyond all bounds.
    for (const double growth : {1.0, 10.0}) {
      TileMatrix grown = a;
      for (double& value : grown.values) value *= growth;
      device::ReachRows q{
          pattern_of(a), grown.values.data(), inverses.data(), spectrum.reach.data(), 0, size};
      bool exceeds = false;
      for (Index row = 0; row < rows; ++row) {
        exceeds = device::exceeds<R, V>(team, q, row) || exceeds;
      }
      EXPECT_EQ(exceeds, growth > 1);
      EXPECT_EQ(exceeds, may_exceed(grown, inverses, 0, false, spectrum, host));
    }
  }
}

TEST(TileRows, AreThoseOfTheCpu) {
  for (const Index rows : {5, 60}) {
    expect_level<Ring::real, 1>(1, rows, 1);
    expect_level<Ring::real, 3>(3, rows, 2);
    expect_level<Ring::real, 0>(2, rows, 3);
    expect_level<Ring::complex, 1>(1, rows, 4);
    expect_level<Ring::complex, 0>(2, rows, 5);
    expect_level<Ring::quaternion, 1>(1, rows, 6);
  }
}

TEST(TileRows, MultiplyTilesOfManyShapes) {
  Seed seed(7);
  const TileMatrix a = random_tiles(37, 23, 6, {3, 3, 1}, seed.generator);
  const TileMatrix b = random_tiles(23, 41, 6, {3, 6, 1}, seed.generator);
  ProductPlaces places, halves;
  TileMatrix c = product_pattern(a, b, false, host.stream(), places);
  expect_product<Ring::real, 3, 3, 6>(a, b, places, c);
  expect_product<Ring::real, 0, 0, 0>(a, b, places, c);
  // More than 255 tiles in a row.
  const TileMatrix few = random_tiles(9, 20, 20, {1, 1, 2}, seed.generator);
  const TileMatrix long_rows = random_tiles(20, 700, 400, {1, 1, 2}, seed.generator);
  TileMatrix wide = product_pattern(few, long_rows, false, host.stream(), halves);
  EXPECT_FALSE(halves.halves.empty());
  expect_product<Ring::complex, 1, 1, 1>(few, long_rows, halves, wide);
}

/// The rows have odd lengths.
TEST(TileRows, MultiplyLongRowsInPieces) {
  Seed seed(12);
  const auto expect = [&]<Ring R, int H, int M, int W>(const TileShape& left, int width) {
    const TileMatrix a = random_tiles(7, 403, 301, left, seed.generator);
    const TileMatrix b = random_tiles(403, 61, 9, {left.width, width, left.ring}, seed.generator);
    ProductPlaces places;
    TileMatrix c = product_pattern(a, b, false, host.stream(), places);
    EXPECT_GT(sizes_of_pieces(a, b, c, places).count, 7);
    expect_product<R, H, M, W>(a, b, places, c);
  };
  expect.operator()<Ring::real, 1, 1, 1>({1, 1, 1}, 1);
  expect.operator()<Ring::real, 6, 3, 6>({6, 3, 1}, 6);
  expect.operator()<Ring::complex, 0, 0, 0>({2, 2, 2}, 2);
}

/// Rows of zeros count as those of the identity; other rows with a zero on the diagonal are
/// refused.
TEST(TileRows, SeeDiagonalsThatHaveNoInverse) {
  const double values[] = {1, 1, 1, 1, 2, 0, 0, -1, 2, 0, 0, NAN, 2, 1, 1, 2,
                           0, 0, 0, 4, 0, 1, 1, 4,  0, 0, 0, 4,   1, 0, 0, 0};
  const Offset diagonal[] = {0, 1, 2, -1, 3, 4, 5, 6}, offsets[] = {0, 1, 2, 3, 3, 4, 5, 6, 8};
  const Index column[] = {0, 1, 2, 4, 5, 6, 7, 4};
  double inverses[32], energies[8];
  const device::DiagonalRows d{
      {8, offsets, column}, values, diagonal, nullptr, inverses, energies, 2};
  const bool has_inverse[] = {false, false, false, true, true, true, false, false};
  for (Index row = 0; row < 8; ++row) {
    EXPECT_EQ((device::invert_row<Ring::real, 0>(d, row)), has_inverse[row]) << row;
  }
  const std::vector<double> missing(inverses + 12, inverses + 16),
      half(inverses + 20, inverses + 24);
  EXPECT_EQ(missing, (std::vector<double>{1, 0, 0, 1}));
  EXPECT_EQ(half, (std::vector<double>{1, 0, 0, 0.25}));
}

template <Ring R>
void expect_inverse(int size, Index rows, std::uint64_t number) {
  SCOPED_TRACE(rows);
  constexpr int r = ring_size(R);
  Seed seed(number);
  const TileMatrix a = hermitian_tiles(rows, {size, size, r}, seed.generator);
  const TileMatrix expected = detail::coarse_inverse(a, 1e-10);
  const int n = rows * size;
  for (const LanesInTurn& team : teams) {
    const auto scalars = static_cast<std::size_t>(n) * static_cast<std::size_t>(n * r);
    std::vector<double> dense(scalars), other(scalars), panel(scalars),
        own(static_cast<std::size_t>(n)), scratch(device::scalars_of_panel<R>);
    Array<double> result(scalars);
    device::DenseInverse d;
    d.a = pattern_of(a), d.values = a.values.data();
    d.dense = dense.data(), d.other = other.data();
    d.panel = panel.data(), d.own = own.data();
    d.result = result.data(), d.least = 1e-5, d.size = size, d.n = n;
    // Eliminates columns in two shares; returns true if all pivots were good.
    const auto inverted = [&] {
      const double* matrix = dense.data();
      double* to = other.data();
      bool is_good = true;
      for (int first = 0; first < n; first += device::rows_of_panel<R>) {
        for (const auto& [begin, end] : {std::pair(0, n / 3), std::pair(n / 3, n)}) {
          is_good =
              device::eliminate_panel<R>(team, d, matrix, first, begin, end, scratch.data()) &&
              is_good;
        }
        for (int t = 0; t < n * n; ++t) device::eliminate<R>(d, matrix, to, first, t / n, t % n);
        matrix = std::exchange(to, const_cast<double*>(matrix));
      }
      for (int i = 0; i < n; ++i) {
        for (int j = 0; j <= i; ++j) device::put_inverse<R>(d, matrix, i, j);
      }
      return is_good;
    };
    for (Index row = 0; row < rows; ++row) device::fill_dense(team, d, r, row);
    const std::vector<double> kept = dense;
    ASSERT_TRUE(inverted());
    expect_near(result, expected.values, 1e-12);
    if (team.lanes != 1) continue;
    // Pivots that are too small, or not a number, are left to the host.
    for (const double last : {0.0, -1.0, double(NAN)}) {
      dense = kept;
      dense[scalars - static_cast<std::size_t>(r)] = last;
      EXPECT_FALSE(inverted()) << last;
    }
  }
}

TEST(TileRows, InvertTheCoarsestLevel) {
  for (const Index rows : {1, 3, 20, 45}) {
    expect_inverse<Ring::real>(1, rows, 8);
    expect_inverse<Ring::real>(3, rows, 9);
    expect_inverse<Ring::complex>(2, rows, 10);
    expect_inverse<Ring::quaternion>(1, rows, 11);
  }
}

}  // namespace
}  // namespace heddle::test::tile_rows
