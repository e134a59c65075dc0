// Bases: permutations with the properties that the plan requests, and refused inputs.
#include "heddle/basis.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <memory>
#include <numeric>
#include <random>
#include <string>
#include <thread>
#include <vector>

#include "heddle/operator.hpp"
#include "support/expect_error.hpp"
#include "support/random_matrix.hpp"

namespace {

using namespace heddle;
using namespace heddle::test;

Array<Index> array(const std::vector<Index>& values) {
  return Array<Index>(std::span<const Index>(values));
}

void expect_permutation(const Basis& basis, Index size) {
  ASSERT_EQ(basis.size(), size);
  std::vector<int> seen(static_cast<std::size_t>(size));
  for (Index i = 0; i < size; ++i) {
    const Index row = basis.user_row(i);
    ASSERT_TRUE(0 <= row && row < size) << "position " << i;
    ++seen[static_cast<std::size_t>(row)];
    EXPECT_EQ(basis.position(row), i);
  }
  EXPECT_EQ(std::count(seen.begin(), seen.end(), 1), size);
}

/// Insertion sort: slow, stable, longest first.
std::vector<Index> sorted_within_windows(const Pattern& pattern, std::vector<Index> order,
                                         Index window) {
  if (window == Layout::all_rows) window = pattern.rows;
  for (Index i = 0; i < pattern.rows; ++i) {
    for (Index j = i; j % window != 0; --j) {
      Index& before = order[static_cast<std::size_t>(j) - 1];
      Index& here = order[static_cast<std::size_t>(j)];
      if (pattern.length(before) >= pattern.length(here)) break;
      std::swap(before, here);
    }
  }
  return order;
}

std::vector<Index> user_rows(const Basis& basis) {
  std::vector<Index> rows;
  for (Index i = 0; i < basis.size(); ++i) rows.push_back(basis.user_row(i));
  return rows;
}

Pattern pattern_of(Index rows, std::vector<std::vector<Index>> columns) {
  Pattern pattern{rows, rows, {0}, {}};
  for (auto& row : columns) {
    std::sort(row.begin(), row.end());
    pattern.column.insert(pattern.column.end(), row.begin(), row.end());
    pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
  }
  return pattern;
}

/// The five-point grid of `width` x `height`, numbered at random; with `one_way`, an edge is kept
/// in only one direction.
Pattern shuffled_grid(Index width, Index height, bool one_way, Generator& generator) {
  const Index n = width * height;
  std::vector<Index> number(static_cast<std::size_t>(n));
  std::iota(number.begin(), number.end(), 0);
  std::shuffle(number.begin(), number.end(), generator);
  std::vector<std::vector<Index>> columns(static_cast<std::size_t>(n));
  const auto at = [&](Index x, Index y) { return number[static_cast<std::size_t>(y * width + x)]; };
  const auto connect = [&](Index a, Index b) {
    if (one_way && random_between(0, 1, generator) == 0) std::swap(a, b);
    columns[static_cast<std::size_t>(a)].push_back(b);
    if (!one_way) columns[static_cast<std::size_t>(b)].push_back(a);
  };
  for (Index y = 0; y < height; ++y) {
    for (Index x = 0; x < width; ++x) {
      columns[static_cast<std::size_t>(at(x, y))].push_back(at(x, y));
      if (x + 1 < width) connect(at(x, y), at(x + 1, y));
      if (y + 1 < height) connect(at(x, y), at(x, y + 1));
    }
  }
  return pattern_of(n, columns);
}

Index bandwidth(const Pattern& pattern, const Basis& basis) {
  Index widest = 0;
  for (Index row = 0; row < pattern.rows; ++row) {
    for (Offset i = pattern.offsets[static_cast<std::size_t>(row)];
         i < pattern.offsets[static_cast<std::size_t>(row) + 1]; ++i) {
      const Index column = pattern.column[static_cast<std::size_t>(i)];
      widest = std::max(widest, std::abs(basis.position(row) - basis.position(column)));
    }
  }
  return widest;
}

TEST(Basis, NaturalNumbersAsTheUserDoes) {
  for (Index n : {0, 1, 9}) {
    const auto basis = Basis::natural(n);
    EXPECT_TRUE(basis->is_natural());
    EXPECT_EQ(basis->bytes(), 0);
    expect_permutation(*basis, n);
  }
}

TEST(Basis, FromOrder) {
  Seed seed(201);
  std::vector<Index> order(57);
  std::iota(order.begin(), order.end(), 0);
  std::shuffle(order.begin(), order.end(), seed.generator);
  const auto basis = Basis::from_order(array(order), Device::cpu());
  expect_permutation(*basis, 57);
  EXPECT_EQ(user_rows(*basis), order);
  EXPECT_EQ(basis->bytes(), 2 * 57 * 4);
}

TEST(Basis, FromOrderRefusesWhatIsNoPermutation) {
  const auto message = [](int rows, int row, int position) {
    return "an order of " + std::to_string(rows) + " rows names row " + std::to_string(row) +
           " twice or out of range at position " + std::to_string(position);
  };
  const auto refused = [&](const std::vector<Index>& order, int row, int position) {
    expect_error(ErrorKind::out_of_range, message(int(order.size()), row, position),
                 [&] { Basis::from_order(array(order), Device::cpu()); });
  };
  refused({0, 1, 1}, 1, 2);
  refused({0, 3, 1}, 3, 1);
  refused({-1, 0}, -1, 0);
  refused({0, 0}, 0, 1);
}

TEST(Basis, SortIsStableLongestFirstWithinWindows) {
  Seed seed(202);
  for (PatternRequest request : odd_patterns()) {
    for (Index window : {2, 7, 64, 100000, int(Layout::all_rows)}) {
      SCOPED_TRACE(std::string(request.name) + ", sigma " + std::to_string(window));
      const Pattern pattern = random_pattern(request, seed.generator);
      std::vector<Index> natural(static_cast<std::size_t>(pattern.rows));
      std::iota(natural.begin(), natural.end(), 0);
      for (int threads : {1, 3}) {
        const auto basis = Basis::make(pattern.view(), Plan{.layout = {.sort_window = window}},
                                       Device::cpu(threads));
        expect_permutation(*basis, pattern.rows);
        EXPECT_EQ(user_rows(*basis), sorted_within_windows(pattern, natural, window));
        // A natural order is not stored.
        EXPECT_EQ(basis->is_natural(), user_rows(*basis) == natural);
      }
    }
  }
}

TEST(Basis, SortIsTheSameByATeam) {
  Seed seed(209);
  const Pattern pattern = random_pattern({.rows = 40000, .columns = 30}, seed.generator);
  for (const Index window : {2, 33}) {
    const Plan plan{.layout = {.sort_window = window}};
    const auto one = storage_order(pattern.view(), plan, Device::cpu(1));
    const auto team = storage_order(pattern.view(), plan, Device::cpu(3));
    std::vector<Index> natural(40000);
    std::iota(natural.begin(), natural.end(), 0);
    const std::vector<Index> expected = sorted_within_windows(pattern, natural, window);
    EXPECT_TRUE(std::equal(one.begin(), one.end(), expected.begin(), expected.end()));
    EXPECT_TRUE(std::equal(team.begin(), team.end(), expected.begin(), expected.end()));
  }
}

TEST(Basis, ScatterSortsStorageAlone) {
  Seed seed(203);
  const Pattern pattern =
      random_pattern({.rows = 50, .columns = 80, .empty_rows = true}, seed.generator);
  const Plan plan = parse_plan("K1");
  EXPECT_TRUE(Basis::make(pattern.view(), plan)->is_natural());
  EXPECT_EQ(storage_order(pattern.view(), plan, Device::cpu()).size(), 50u);
}

TEST(Basis, ReverseCuthillMcKeeNarrowsAShuffledGrid) {
  Seed seed(204);
  constexpr Index width = 14, height = 40;
  for (bool one_way : {false, true}) {
    SCOPED_TRACE(one_way ? "unsymmetric" : "symmetric");
    const Pattern grid = shuffled_grid(width, height, one_way, seed.generator);
    const auto basis = Basis::make(grid.view(), parse_plan("order=rcm"));
    expect_permutation(*basis, grid.rows);
    EXPECT_GT(bandwidth(grid, *Basis::natural(grid.rows)), 10 * width);
    // Levels of a breadth-first search over a grid from a corner are its diagonals, at most
    // `width` long; neighbours lie in neighbouring levels.
    EXPECT_LE(bandwidth(grid, *basis), 2 * width);
  }
}

TEST(Basis, ReverseCuthillMcKeeTakesDisconnectedGraphs) {
  Seed seed(205);
  // Two separate grids, and rows with no entries, or with only a diagonal one.
  const Pattern a = shuffled_grid(6, 9, false, seed.generator);
  const Pattern b = shuffled_grid(5, 12, true, seed.generator);
  std::vector<std::vector<Index>> columns;
  for (Index row = 0; row < a.rows; ++row) {
    columns.emplace_back(a.column.begin() + a.offsets[static_cast<std::size_t>(row)],
                         a.column.begin() + a.offsets[static_cast<std::size_t>(row) + 1]);
  }
  for (Index row = 0; row < b.rows; ++row) {
    columns.emplace_back(b.column.begin() + b.offsets[static_cast<std::size_t>(row)],
                         b.column.begin() + b.offsets[static_cast<std::size_t>(row) + 1]);
    for (Index& column : columns.back()) column += a.rows;
  }
  const Index n = a.rows + b.rows + 3;
  columns.push_back({});
  columns.push_back({n - 2});
  columns.push_back({});
  const Pattern both = pattern_of(n, columns);
  const auto basis = Basis::make(both.view(), parse_plan("order=rcm"));
  expect_permutation(*basis, n);
  EXPECT_LE(bandwidth(both, *basis), 12);

  const Pattern nothing = random_pattern({.rows = 8, .columns = 8, .per_row = 0}, seed.generator);
  expect_permutation(*Basis::make(nothing.view(), parse_plan("order=rcm")), 8);
  expect_permutation(*Basis::make(Pattern{}.view(), parse_plan("order=rcm,sigma=n")), 0);
}

TEST(Basis, ReverseCuthillMcKeeIsTheSameForAllWhoAskAtOnce) {
  Seed seed(207);
  const Pattern grids[] = {shuffled_grid(40, 50, false, seed.generator),
                           shuffled_grid(50, 40, true, seed.generator)};
  std::vector<std::vector<Index>> found(8);
  {
    std::vector<std::jthread> threads;
    for (std::size_t t = 0; t < found.size(); ++t) {
      threads.emplace_back([&, t] {
        found[t] = user_rows(*Basis::make(grids[t % 2].view(), parse_plan("order=rcm")));
      });
    }
  }
  EXPECT_EQ(found[0].size(), 2000u);
  EXPECT_NE(found[0], found[1]);
  for (std::size_t t = 2; t < found.size(); ++t) EXPECT_EQ(found[t], found[t % 2]);
}

TEST(Basis, SortsAfterReverseCuthillMcKee) {
  Seed seed(206);
  const Pattern grid = shuffled_grid(9, 9, true, seed.generator);
  const auto ordered = Basis::make(grid.view(), parse_plan("order=rcm"));
  const auto sorted = Basis::make(grid.view(), parse_plan("order=rcm,sigma=16"));
  EXPECT_EQ(user_rows(*sorted), sorted_within_windows(grid, user_rows(*ordered), 16));
}

TEST(Basis, SameBasisComparesTheNumbering) {
  const auto swapped = Basis::from_order(array({1, 0, 2}), Device::cpu());
  EXPECT_TRUE(same_basis(*swapped, *swapped));
  EXPECT_TRUE(same_basis(*swapped, *Basis::from_order(array({1, 0, 2}), Device::cpu())));
  EXPECT_FALSE(same_basis(*swapped, *Basis::from_order(array({2, 1, 0}), Device::cpu())));
  EXPECT_FALSE(same_basis(*swapped, *Basis::natural(3)));
  EXPECT_FALSE(same_basis(*Basis::natural(3), *swapped));
  EXPECT_TRUE(same_basis(*Basis::natural(3), *Basis::natural(3)));
  EXPECT_FALSE(same_basis(*Basis::natural(3), *Basis::natural(4)));
}

TEST(Basis, RectangularPatternsAreNotPermuted) {
  Seed seed(207);
  const Pattern wide =
      random_pattern({.rows = 30, .columns = 40, .dense_row = true}, seed.generator);
  expect_error(
      ErrorKind::bad_plan,
      "plan: rows and columns of a 30 x 40 matrix cannot be permuted the same way; basis=user "
      "takes rectangular ones",
      [&] { Basis::make(wide.view(), parse_plan("pJDS")); });
  const std::string no_order = "plan: order=rcm needs a square matrix, this one is 30 x 40";
  for (const char* text : {"order=rcm", "order=rcm,sigma=n"}) {
    expect_error(ErrorKind::bad_plan, no_order,
                 [&] { Basis::make(wide.view(), parse_plan(text)); });
  }
  expect_error(ErrorKind::bad_plan, no_order, [&] {
    const auto matrix = random_matrix_of<real<double>>(wide, seed.generator);
    Operator<real<double>>(matrix, parse_plan("order=rcm,use=scatter"));
  });
  EXPECT_TRUE(Basis::make(wide.view(), parse_plan("Sl-32"))->is_natural());
}

TEST(Basis, PlanIsChecked) {
  expect_error(ErrorKind::bad_plan, "plan: C=65 is neither 1 to 64 nor n",
               [] { Basis::make(Pattern{}.view(), Plan{.layout = {.lanes = 65}}); });
}

TEST(Basis, IsSharedByOperators) {
  Seed seed(208);
  using E = quaternion<double>;
  const PatternRequest request{.rows = 120, .columns = 120, .empty_rows = true};
  const auto stiffness = random_matrix<E>(request, seed.generator);
  const auto mass = random_matrix<E>(request, seed.generator);
  const Plan plan = parse_plan("K1rs");
  const auto basis = Basis::make(stiffness.view(), plan);
  ASSERT_FALSE(basis->is_natural());
  const Operator<E> K(stiffness.view(), plan, basis), M(mass.view(), plan, basis);
  EXPECT_EQ(K.row_basis(), basis);
  EXPECT_EQ(M.column_basis(), basis);
  // One field works with both; a field in another basis does not.
  const auto x = random_field<E>(120, seed.generator, VectorLayout::aos, basis);
  Field<E> y = M.field();
  const auto stream = K.device().stream();
  K.apply(1, x, 0, y, stream);
  M.apply(1, x, 1, y, stream);
  const auto users = in_users_order(x.view());
  const Reference first = reference_product(stiffness, users);
  const Reference second = reference_product(mass, users);
  const auto computed = in_users_order(y.view());
  for (std::size_t i = 0; i < computed.size(); ++i) {
    const long double bound =
        first.bound(i, unit_roundoff<double>, 1) + second.bound(i, unit_roundoff<double>, 1);
    const long double difference = std::abs(computed[i] - first.value[i] - second.value[i]);
    EXPECT_FALSE(!(difference <= bound)) << "component " << i;
  }
  const auto mass_basis = Basis::make(mass.view(), plan);
  EXPECT_FALSE(same_basis(*basis, *mass_basis));
  const auto stranger = random_field<E>(120, seed.generator, VectorLayout::aos, mass_basis);
  expect_error(ErrorKind::size_mismatch,
               "x is not in the matrix's column basis; `permute` takes it there",
               [&] { K.apply(1, stranger, 0, y, stream); });
}

}  // namespace
