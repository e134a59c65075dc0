// Matrices of numbers that consist of tiles, and the advice about them.
#include "tuning/planning/hidden_tiles.hpp"

#include <gtest/gtest.h>

#include <cstdlib>
#include <string>

#include "heddle/expansion.hpp"
#include "heddle/problems.hpp"
#include "support/random_matrix.hpp"

namespace hidden_tiles_test {
namespace {

using namespace heddle;
using namespace heddle::test;

/// The tiles' entry if they have that size; otherwise a text of what was found.
template <class Matrix>
std::string seen(const Matrix& matrix, int size) {
  const auto tiles = hidden_tiles(AnyMatrix(matrix));
  if (!tiles) return "none";
  return tiles->size == size ? tiles->entry : "tiles of " + std::to_string(tiles->size);
}

/// A symmetric matrix with numbers where `keeps(row, column)`.
template <class Keeps>
CsrMatrix<real<double>> numbers(Index rows, const Keeps& keeps) {
  Pattern pattern;
  std::vector<real<double>> entries;
  pattern.rows = pattern.columns = rows;
  pattern.offsets = {0};
  for (Index row = 0; row < rows; ++row) {
    for (Index column = 0; column < rows; ++column) {
      if (!keeps(row, column)) continue;
      pattern.column.push_back(column);
      entries.push_back({{row == column ? 1000.0 : 1 + row % 7 + column % 7}});
    }
    pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
  }
  return matrix_of(pattern, entries);
}

TEST(HiddenTiles, AreThoseOfCompoundEntries) {
  EXPECT_EQ(seen(expand(elasticity(600)), 3), "block3");
  EXPECT_EQ(seen(expand(dirac(500)), 4), "quaternion");
  EXPECT_EQ(seen(expand(helmholtz(500)), 2), "complex");
  Seed seed(6101);
  const PatternRequest request{.rows = 90, .columns = 90, .per_row = 7};
  EXPECT_EQ(seen(expand(random_matrix<block<double, 2, 2>>(request, seed.generator)), 2), "block2");
  EXPECT_EQ(seen(expand(random_matrix<block<float, 4, 4>>(request, seed.generator)), 4), "block4");
  EXPECT_EQ(seen(expand(random_matrix<block<double, 6, 6>>(request, seed.generator)), 6), "block6");
}

TEST(HiddenTiles, NeedNoEntryAndNotEveryPlace) {
  EXPECT_EQ(seen(numbers(100,
                         [](Index row, Index column) {
                           const int apart = std::abs(row / 5 - column / 5);
                           return apart == 0 || apart == 3 || apart == 9;
                         }),
                 5),
            "");
  EXPECT_EQ(seen(numbers(150,
                         [](Index row, Index column) {
                           const int apart = std::abs(row / 3 - column / 3);
                           const bool is_dropped = (row + column) % 5 == 0 && row != column;
                           return (apart == 0 || apart == 7 || apart == 12) && !is_dropped;
                         }),
                 3),
            "block3");
}

TEST(HiddenTiles, AreNotSeenElsewhere) {
  EXPECT_EQ(seen(poisson(2000), 0), "none");
  EXPECT_EQ(seen(elasticity(300), 0), "none");
  EXPECT_EQ(seen(helmholtz(500), 0), "none");
  const auto everywhere = [](Index, Index) { return true; };
  EXPECT_EQ(seen(numbers(60, everywhere), 0), "none");
  EXPECT_EQ(seen(numbers(12, everywhere), 0), "none");
  for (const int band : {0, 1, 2, 5, 20}) {
    EXPECT_EQ(
        seen(numbers(120, [&](Index row, Index column) { return std::abs(row - column) <= band; }),
             0),
        "none")
        << band;
  }
  Seed seed(6102);
  const PatternRequest request{.rows = 240, .columns = 240, .per_row = 9};
  EXPECT_EQ(seen(random_matrix<real<double>>(request, seed.generator), 0), "none");
  const PatternRequest rectangular{.rows = 240, .columns = 120, .per_row = 9};
  EXPECT_EQ(seen(random_matrix<real<double>>(rectangular, seed.generator), 0), "none");
  EXPECT_EQ(seen(CsrMatrix<real<double>>(), 0), "none");
}

TEST(HiddenTiles, AdviceNamesTheEntry) {
  EXPECT_EQ(advice_on({3, 0.996, "block3"}),
            "rows come in threes: 3 x 3 tiles are 100% full; as block3 entries they take fewer "
            "iterations, and multigrid with the coordinates of their points, or candidates, fewer "
            "still");
  EXPECT_EQ(advice_on({4, 1, "quaternion"}),
            "rows come in fours: 4 x 4 tiles are quaternion numbers; as quaternion entries they "
            "take 1/4 of the memory, and fewer iterations");
  EXPECT_EQ(advice_on({5, 0.8, ""}),
            "rows come in fives: 5 x 5 tiles are 80% full; block-jacobi:5 inverts whole tiles");
}

TEST(HiddenTiles, TallMatricesMayBeOfQuaternions) {
  const auto reason = [](Index rows, Index columns) {
    Pattern pattern;
    pattern.rows = rows;
    pattern.columns = columns;
    pattern.offsets.assign(static_cast<std::size_t>(rows) + 1, 0);
    return reason_for_rectangular(AnyMatrix(matrix_of(pattern, std::vector<real<double>>())));
  };
  EXPECT_EQ(reason(9, 2), "the matrix is rectangular");
  EXPECT_EQ(reason(12, 3), "the matrix is rectangular, or a square one of quaternions");
  EXPECT_EQ(reason(24, 3), "the matrix is rectangular, or a square one of dual-quaternions");
  EXPECT_EQ(reason(12, 0), "the matrix is rectangular");
}

}  // namespace
}  // namespace hidden_tiles_test
