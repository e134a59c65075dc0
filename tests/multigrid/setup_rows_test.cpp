// A hierarchy's set-up as kernels compute it, lane by lane on the CPU, against the CPU's own.
#include "solvers/multigrid/setup_rows.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <vector>

#include "heddle/operator.hpp"
#include "solvers/multigrid/aggregates.hpp"
#include "support/lanes_in_turn.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::setup_rows {
namespace {

using detail::Aggregates, detail::TileMatrix, detail::TileShape;

const Device host = Device::cpu(1);

constexpr LanesInTurn teams[] = {{1, false}, {4, true}, {37, false}};

device::TilePattern pattern_of(const detail::UserRows& rows) {
  return {rows.rows(), rows.offsets.data(), rows.column.data()};
}

/// Rows connected to others at a few distances, some of them isolated, with tiles of widely varying
/// size.
TileMatrix random_tiles(Index rows, const TileShape& shape, Generator& generator) {
  std::vector<Offset> offsets{0};
  std::vector<Index> column;
  for (Index row = 0; row < rows; ++row) {
    for (const Index distance : {-9, -7, -1, 0, 1, 7, 9}) {
      const Index other = row + distance;
      const bool is_alone = row % 11 == 0 || other % 11 == 0;
      if (other < 0 || other >= rows || (is_alone && other != row)) continue;
      column.push_back(other);
    }
    offsets.push_back(static_cast<Offset>(column.size()));
  }
  TileMatrix a;
  a.shape = shape;
  a.columns = rows;
  a.pattern.offsets = Array<Offset>(std::span<const Offset>(offsets));
  a.pattern.column = Array<Index>(std::span<const Index>(column));
  a.make_values();
  for (Offset e = 0; e < a.pattern.entries(); ++e) {
    const double size = std::exp(6 * uniform(generator) - 6);
    for (int t = 0; t < shape.scalars(); ++t) a.tile(e)[t] = size * (uniform(generator) - 0.5);
  }
  return a;
}

/// Compared bit by bit: aggregates are the same on every device.
void expect_aggregates(const TileMatrix& a) {
  const detail::EntryNorms expected = entry_norms(a, host.stream());
  std::vector<double> squared(expected.squared.size()), diagonal(expected.diagonal.size());
  std::vector<unsigned char> is_coupled(diagonal.size());
  double largest = 0;
  for (Index row = 0; row < a.rows(); ++row) {
    const std::span<const Index> columns = a.pattern.row(row);
    const auto found = std::find(columns.begin(), columns.end(), row) - columns.begin();
    for (int t = 0; t < a.shape.scalars(); ++t) {
      largest = std::max(largest, std::abs(a.tile(a.pattern.begin(row) + found)[t]));
    }
  }
  for (const LanesInTurn& team : teams) {
    const device::NormRows rows{
        pattern_of(a.pattern), a.values.data(), detail::inverse_scale(largest),
        a.shape.scalars(),     squared.data(),  diagonal.data(),
        is_coupled.data()};
    for (Index row = 0; row < a.rows(); ++row) device::norms_of_row(team, rows, row);
    EXPECT_TRUE(std::equal(squared.begin(), squared.end(), expected.squared.begin()));
    EXPECT_TRUE(std::equal(diagonal.begin(), diagonal.end(), expected.diagonal.begin()));
    EXPECT_TRUE(std::equal(is_coupled.begin(), is_coupled.end(), expected.is_coupled.begin()));
  }
  for (const double strength : {0.0, 0.08, 0.5}) {
    const Aggregates aggregates = aggregate(a, expected, strength, host.stream());
    const device::StrongRows strong{pattern_of(a.pattern), squared.data(), diagonal.data(),
                                    std::max(strength * strength, detail::min_squared)};
    std::vector<std::vector<Index>> columns;
    for (Index row = 0; row < a.rows(); ++row) {
      columns.emplace_back(static_cast<std::size_t>(strong.count(row)));
      strong.list(row, columns.back().data());
    }
    std::vector<Index> taken(columns.size(), Aggregates::none), of;
    const Index count = detail::take_roots(
        a.rows(),
        [&](Index row) { return std::span<const Index>(columns[static_cast<std::size_t>(row)]); },
        taken.data());
    for (Index row = 0; row < a.rows(); ++row) {
      of.push_back(strong.aggregate(row, taken.data(), detail::likeness_of_norms));
    }
    EXPECT_EQ(count, aggregates.count);
    EXPECT_TRUE(std::equal(of.begin(), of.end(), aggregates.of.begin(), aggregates.of.end()));
  }
}

/// T R, with some aggregates smaller than the number of candidates.
template <Ring R>
void expect_tentative(const TileShape& shape, Generator& generator) {
  constexpr Index count = 7;
  Aggregates aggregates;
  aggregates.count = count;
  std::vector<Index> of;
  for (Index row = 0; row < 40; ++row) {
    of.push_back(row == 3 || row == 20 ? Aggregates::none
                 : row < 36            ? row % (count - 1)
                                       : count - 1);
  }
  of.resize(37);  // the last aggregate is one row
  aggregates.of = Array<Index>(std::span<const Index>(of));
  UnsetArray<double> candidates(of.size() * static_cast<std::size_t>(shape.scalars()));
  for (double& number : candidates) number = uniform(generator) - 0.5;
  const UnsetArray<double> given = candidates;
  const TileMatrix t = tentative_prolongation(aggregates, shape, candidates, host.stream());
  Array<Offset> place;
  const detail::UserRows members = transposed(t.pattern, count, host.stream(), place);
  for (const LanesInTurn& team : teams) {
    std::vector<double> found(t.values.size()), coarse(candidates.size());
    device::TentativeRows rows;
    rows.members = pattern_of(members);
    rows.entry = t.pattern.offsets.data();
    rows.candidates = given.data();
    rows.tentative = found.data();
    rows.coarse = coarse.data();
    rows.rounding = std::sqrt(std::numeric_limits<double>::epsilon());
    rows.height = shape.height, rows.width = shape.width;
    for (Index one = 0; one < count; ++one) device::orthonormalize<R>(team, rows, one);
    for (std::size_t i = 0; i < found.size(); ++i) EXPECT_NEAR(found[i], t.values[i], 1e-12);
    for (std::size_t i = 0; i < coarse.size(); ++i) EXPECT_NEAR(coarse[i], candidates[i], 1e-12);
  }
}

std::vector<Index> users_of(const Basis& basis) {
  std::vector<Index> user;
  for (Index i = 0; i < basis.size(); ++i) user.push_back(basis.user_row(i));
  return user;
}

/// Three threads read each row.
void expect_rows_of_storage(const CsrMatrix<real<double>>& matrix) {
  for (const char* const plan : {"CSR", "pJDS", "K1rs", "K2rs", "Sl-32,order=rcm"}) {
    SCOPED_TRACE(plan);
    const Operator<real<double>> A(matrix, parse_plan(plan));
    const SlicedPattern& pattern = A.pattern();
    const detail::StoredRows expected = detail::stored_rows(pattern, host.stream());
    const std::vector<Index> rows = users_of(*pattern.row_basis),
                             columns = users_of(*pattern.column_basis);
    const device::SlicedRows sliced{
        pattern.view(),        pattern.row_length.empty() ? nullptr : pattern.row_length.data(),
        pattern.column.data(), pattern.target.empty() ? nullptr : pattern.target.data(),
        rows.data(),           columns.data()};
    std::vector<Index> column(expected.column.size());
    std::vector<Offset> slot(column.size());
    for (Index stored = 0; stored < pattern.rows; ++stored) {
      const Index row = sliced.user_row(stored);
      ASSERT_EQ(sliced.length(stored), expected.begin(row + 1) - expected.begin(row));
      const Offset first = expected.begin(row);
      for (int lane = 0; lane < 3; ++lane) {
        sliced.list(stored, lane, 3, column.data() + first, slot.data() + first);
      }
    }
    EXPECT_TRUE(std::equal(column.begin(), column.end(), expected.column.begin()));
    EXPECT_TRUE(std::equal(slot.begin(), slot.end(), expected.slot.begin()));
  }
}

TEST(SetupRows, ReadTheRowsOfSlicedStorage) {
  Seed seed(8803);
  expect_rows_of_storage(random_system<real<double>>(700, 9, 0.05, 0, seed.generator).matrix);
  // One thread sorts rows of more than 64 entries; the three threads rank shorter ones.
  expect_rows_of_storage(random_system<real<double>>(300, 35, 0.05, 0, seed.generator).matrix);
}

TEST(SetupRows, FindTheAggregatesOfTheCpu) {
  Seed seed(8801);
  expect_aggregates(random_tiles(1, {1, 1, 1}, seed.generator));
  expect_aggregates(random_tiles(400, {1, 1, 1}, seed.generator));
  expect_aggregates(random_tiles(300, {3, 3, 1}, seed.generator));
  expect_aggregates(random_tiles(200, {2, 2, 2}, seed.generator));
  expect_aggregates(random_tiles(200, {1, 1, 4}, seed.generator));
}

TEST(SetupRows, MakeTheTentativeProlongationOfTheCpu) {
  Seed seed(8802);
  expect_tentative<Ring::real>({1, 1, 1}, seed.generator);
  expect_tentative<Ring::real>({3, 6, 1}, seed.generator);
  expect_tentative<Ring::complex>({2, 2, 2}, seed.generator);
  expect_tentative<Ring::quaternion>({1, 1, 4}, seed.generator);
}

}  // namespace
}  // namespace heddle::test::setup_rows
