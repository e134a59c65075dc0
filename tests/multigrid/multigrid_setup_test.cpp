// Runs in the release.
// The parts of a multigrid setup against dense matrices: products of tiles, aggregates, tentative
// prolongation and the coarsest inverse.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <set>
#include <string>
#include <utility>
#include <vector>

#include "heddle/methods/coefficient.hpp"
#include "solvers/multigrid/aggregates.hpp"
#include "solvers/multigrid/coarse_inverse.hpp"
#include "solvers/tiles/level_spectrum.hpp"
#include "solvers/tiles/tile_products.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::multigrid_setup {
namespace {

using detail::TileMatrix;
using detail::TileShape;

Stream host(int threads) { return Device::cpu(threads).stream(); }

/// The real expansion of a number of the ring that acts from the left.
Eigen::MatrixXd expansion_of_number(const double* at, int ring) {
  Eigen::MatrixXd matrix(ring, ring);
  for (int j = 0; j < ring; ++j) {
    double unit[4] = {}, image[4] = {};
    unit[j] = 1;
    if (ring == 1) multiply_add_at<Ring::real>(image, at, unit);
    if (ring == 2) multiply_add_at<Ring::complex>(image, at, unit);
    if (ring == 4) multiply_add_at<Ring::quaternion>(image, at, unit);
    for (int i = 0; i < ring; ++i) matrix(i, j) = image[i];
  }
  return matrix;
}

Eigen::MatrixXd dense_of(const TileMatrix& a) {
  const auto [height, width, ring] = a.shape;
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(Eigen::Index(a.rows()) * height * ring,
                                                Eigen::Index(a.columns) * width * ring);
  for (Index row = 0; row < a.rows(); ++row) {
    for (Offset e = a.pattern.begin(row); e < a.pattern.begin(row + 1); ++e) {
      const Index column = a.pattern.column[static_cast<std::size_t>(e)];
      for (int i = 0; i < height; ++i) {
        for (int j = 0; j < width; ++j) {
          dense.block((Eigen::Index(row) * height + i) * ring,
                      (Eigen::Index(column) * width + j) * ring, ring, ring) =
              expansion_of_number(a.tile(e) + (i * width + j) * ring, ring);
        }
      }
    }
  }
  return dense;
}

/// Rows of up to `most` entries, some of them empty.
TileMatrix random_tiles(Index rows, Index columns, int most, const TileShape& shape,
                        Generator& generator) {
  TileMatrix a;
  a.shape = shape;
  a.columns = columns;
  std::vector<Offset> offsets{0};
  std::vector<Index> column;
  for (Index row = 0; row < rows; ++row) {
    std::set<Index> chosen;
    const int count = std::uniform_int_distribution<int>(0, most)(generator);
    for (int k = 0; k < count; ++k) {
      chosen.insert(std::uniform_int_distribution<Index>(0, columns - 1)(generator));
    }
    column.insert(column.end(), chosen.begin(), chosen.end());
    offsets.push_back(static_cast<Offset>(column.size()));
  }
  a.pattern.offsets = Array<Offset>(std::span<const Offset>(offsets));
  a.pattern.column = Array<Index>(std::span<const Index>(column));
  a.make_values();
  for (double& value : a.values) value = uniform(generator);
  return a;
}

bool same_values(const TileMatrix& a, const TileMatrix& b) {
  return std::equal(a.values.begin(), a.values.end(), b.values.begin(), b.values.end());
}

TileMatrix product_of(const TileMatrix& a, const TileMatrix& b, bool is_hermitian = false,
                      int threads = 1) {
  detail::ProductPlaces places;
  TileMatrix c = product_pattern(a, b, is_hermitian, host(threads), places);
  std::fill(c.values.begin(), c.values.end(), std::numeric_limits<double>::quiet_NaN());
  multiply(a, b, places, c, host(threads));  // old values have no effect
  return c;
}

TEST(TileProducts, AreThoseOfDenseMatrices) {
  Seed seed(1);
  Generator& generator = seed.generator;
  const int sizes[][3] = {{1, 1, 1}, {3, 3, 3}, {3, 3, 6}, {6, 3, 6},
                          {6, 6, 6}, {2, 2, 3}, {3, 5, 1}};
  for (const int ring : {1, 2, 4}) {
    for (const auto& [height, middle, width] : sizes) {
      SCOPED_TRACE(std::to_string(height) + " x " + std::to_string(middle) + " x " +
                   std::to_string(width) + ", ring " + std::to_string(ring));
      const TileMatrix a = random_tiles(37, 23, 6, {height, middle, ring}, generator);
      const TileMatrix b = random_tiles(23, 41, 6, {middle, width, ring}, generator);
      const TileMatrix c = product_of(a, b);
      const Eigen::MatrixXd expected = dense_of(a) * dense_of(b);
      EXPECT_LE((dense_of(c) - expected).norm(), 1e-14 * expected.norm());
      for (const int threads : {2, 5}) {
        EXPECT_TRUE(same_values(c, product_of(a, b, false, threads)));
      }
      Array<Offset> place;
      TileMatrix adjoint = adjoint_pattern(a, host(1), place);
      conjugate_transpose(a, place, adjoint, host(2));
      EXPECT_EQ(dense_of(adjoint), dense_of(a).transpose());
      // For a Hermitian product only half is summed, except for single real numbers.
      const TileMatrix whole = product_of(a, adjoint), half = product_of(a, adjoint, true);
      const Eigen::MatrixXd dense = dense_of(half);
      EXPECT_LE((dense - dense_of(whole)).norm(), 1e-14 * dense.norm());
      EXPECT_TRUE(same_values(half, product_of(a, adjoint, true, 3)));
      for (Index row = 0; row < half.rows(); ++row) {
        for (const Index column : half.pattern.row(row)) {
          if (row == column || a.shape.scalars() == 1) continue;
          const Eigen::Index h = Eigen::Index(height) * ring;
          EXPECT_EQ(dense.block(row * h, column * h, h, h),
                    dense.block(column * h, row * h, h, h).transpose());
        }
      }
    }
  }
}

TileMatrix tiles_of(const CsrMatrix<real<double>>& matrix) {
  TileMatrix a;
  a.columns = matrix.columns();
  a.pattern.offsets = matrix.offsets();
  a.pattern.column = matrix.column();
  a.values = std::span<const double>(matrix.values().data(), matrix.values().size());
  return a;
}

TEST(TileProducts, TakeRowsOfAnyLength) {
  // One row of 70000 entries times a column.
  constexpr Index n = 70000;
  TileMatrix a, b;
  const auto fill_pattern = [](TileMatrix& matrix, Index rows, Index columns) {
    matrix.pattern.offsets = Array<Offset>(static_cast<std::size_t>(rows) + 1);
    matrix.pattern.column = Array<Index>(static_cast<std::size_t>(Offset(rows) * columns));
    for (Index row = 0; row <= rows; ++row) {
      matrix.pattern.offsets[static_cast<std::size_t>(row)] = Offset(row) * columns;
    }
    for (std::size_t e = 0; e < matrix.pattern.column.size(); ++e) {
      matrix.pattern.column[e] = static_cast<Index>(e) % columns;
    }
    matrix.columns = columns;
    matrix.make_values();
  };
  fill_pattern(a, 1, n);
  fill_pattern(b, n, 1);
  for (std::size_t e = 0; e < std::size_t{n}; ++e) {
    a.values[e] = static_cast<double>(e % 7), b.values[e] = static_cast<double>(e % 5);
  }
  double expected = 0;
  for (Index e = 0; e < n; ++e) expected += (e % 7) * (e % 5);
  EXPECT_EQ(product_of(a, b).values[0], expected);
  for (const Index columns : {255, 256, 65535, 65536, n}) {
    TileMatrix number, row;
    fill_pattern(number, 1, 1);
    fill_pattern(row, 1, columns);
    number.values[0] = 2;
    for (std::size_t e = 0; e < row.values.size(); ++e) row.values[e] = static_cast<double>(e);
    const TileMatrix twice = product_of(number, row);
    ASSERT_EQ(twice.values.size(), row.values.size());
    for (std::size_t e = 0; e < row.values.size(); ++e) EXPECT_EQ(twice.values[e], 2.0 * e);
  }
}

/// A path of rows; `strong` holds the strength of each link between neighbours.
TileMatrix path(const std::vector<double>& strong) {
  const auto n = static_cast<Index>(strong.size()) + 1;
  TileRows tiles(1, n);
  for (Index i = 0; i < n; ++i) tiles.at(i, i)(0, 0) = 2;
  for (Index i = 0; i + 1 < n; ++i) {
    tiles.at(i, i + 1)(0, 0) = tiles.at(i + 1, i)(0, 0) = -strong[static_cast<std::size_t>(i)];
  }
  return tiles_of(assemble<real<double>>(tiles));
}

TEST(Aggregates, AreOfRootsAndOfWhatJoinsThem) {
  // Rows 0 and 3 are roots; a root takes its neighbours.
  const auto of = [](const std::vector<double>& strong, double strength) {
    const TileMatrix a = path(strong);
    const auto found = aggregate(a, entry_norms(a, host(1)), strength, host(2));
    return std::vector<Index>(found.of.begin(), found.of.end());
  };
  EXPECT_EQ(of({1, 1, 1, 1, 1}, 0), (std::vector<Index>{0, 0, 1, 1, 1, 1}));
  // Rows 1 and 2 are not joined, so that 2 and 5 are roots.
  EXPECT_EQ(of({1, 0.1, 1, 1, 1}, 0.1), (std::vector<Index>{0, 0, 1, 1, 2, 2}));
  EXPECT_EQ(of({1, 1, 0.01}, 0.1), (std::vector<Index>{0, 0, 0, detail::Aggregates::none}));
}

TEST(TentativeProlongation, HasOrthonormalColumnsWithTheCandidatesInItsRange) {
  Seed seed(3);
  Generator& generator = seed.generator;
  constexpr Index rows = 30;
  for (const int ring : {1, 2, 4}) {
    for (const auto& [height, width] : {std::pair{1, 1}, {3, 3}, {3, 6}, {2, 3}}) {
      const TileShape shape{height, width, ring};
      detail::Aggregates aggregates;
      aggregates.count = 4;
      aggregates.of = Array<Index>(rows);
      // The first aggregate is one row, with fewer numbers than the candidates of some shapes.
      for (Index i = 0; i < rows; ++i) {
        aggregates.of[static_cast<std::size_t>(i)] = i == 0 ? 0 : i == 7 ? -1 : 1 + i % 3;
      }
      TileMatrix given = random_tiles(rows, 1, 0, shape, generator);
      for (std::size_t i = 0; i <= rows; ++i) given.pattern.offsets[i] = static_cast<Offset>(i);
      given.pattern.column = Array<Index>(rows);
      given.columns = 1;
      given.make_values();
      for (double& value : given.values) value = uniform(generator);
      // In the second aggregate the last candidate depends on the first one.
      for (Index i = 0; width > 1 && i < rows; ++i) {
        if (aggregates.of[static_cast<std::size_t>(i)] != 1) continue;
        for (int h = 0; h < height; ++h) {
          double* const row = given.tile(i) + h * width * ring;
          for (int p = 0; p < ring; ++p) row[(width - 1) * ring + p] = 3 * row[p];
        }
      }
      UnsetArray<double> candidates = given.values;
      const TileMatrix t = tentative_prolongation(aggregates, shape, candidates, host(2));
      TileMatrix r = given;
      r.shape = {width, width, ring};
      r.pattern.offsets = Array<Offset>(5);
      for (std::size_t i = 0; i < 5; ++i) r.pattern.offsets[i] = static_cast<Offset>(i);
      r.pattern.column = Array<Index>(4);
      r.values = candidates;
      Eigen::MatrixXd b = dense_of(given);
      b.middleRows(7 * height * ring, height * ring).setZero();  // in no aggregate
      EXPECT_LE((dense_of(t) * dense_of(r) - b).norm(), 1e-14 * b.norm());
      const Eigen::MatrixXd gram = dense_of(t).transpose() * dense_of(t);
      for (Eigen::Index i = 0; i < gram.rows(); ++i) {
        for (Eigen::Index j = 0; j < gram.cols(); ++j) {
          const bool is_dropped = gram(i, i) == 0;
          EXPECT_NEAR(gram(i, j), i == j && !is_dropped ? 1 : 0, 1e-14);
        }
      }
      const double rank = gram.trace() / ring;
      const int of_dependent = width > 1 ? 1 : 0;
      EXPECT_NEAR(rank, std::min(height, width) + 3 * width - of_dependent, 1e-12);
    }
  }
}

TEST(CoarseInverse, IsTheInverseOrAGeneralizedOne) {
  Seed seed(5);
  // Rows of the factor are subtracted from others 32 at a time.
  for (const auto& [ring, rows] : {std::pair{1, 9}, {2, 9}, {4, 9}, {1, 37}, {2, 37}, {4, 37}}) {
    const TileMatrix b = random_tiles(rows, rows + 3, 8, {2, 2, ring}, seed.generator);
    Array<Offset> place;
    TileMatrix transpose = adjoint_pattern(b, host(1), place);
    conjugate_transpose(b, place, transpose, host(1));
    for (const bool is_singular : {false, true}) {
      // B B* is definite except for empty rows; the rank of B* B is at most the number of B's rows.
      const TileMatrix a = is_singular ? product_of(transpose, b) : product_of(b, transpose);
      const TileMatrix made = coarse_inverse(a, 1e-10);
      const Eigen::MatrixXd dense = dense_of(a), inverse = dense_of(made);
      EXPECT_LE((dense * inverse * dense - dense).norm(), 1e-9 * dense.norm());
      EXPECT_LE((inverse - inverse.transpose()).norm(), 1e-14 * inverse.norm());
      EXPECT_TRUE(is_positive_definite(inverse));
      TileMatrix by_team;
      detail::SetupScratch scratch;
      invert(a, {}, 1e-10, by_team, scratch, host(4));
      EXPECT_TRUE(std::ranges::equal(by_team.values, made.values));
    }
  }
}

/// Random conductances on a free grid, with values rounded as they would be stored.
template <class Round>
TileMatrix free_grid(Index side, double contrast, const Round& round, Generator& generator) {
  TileRows tiles(1, side * side);
  const auto connect = [&](Index i, Index j) {
    const double conductance = std::pow(contrast, uniform(generator) / 2);
    tiles.at(i, i)(0, 0) += conductance, tiles.at(j, j)(0, 0) += conductance;
    tiles.at(i, j)(0, 0) = tiles.at(j, i)(0, 0) = -conductance;
  };
  for (Index i = 0; i < tiles.count(); ++i) {
    if (i % side > 0) connect(i, i - 1);
    if (i >= side) connect(i, i - side);
  }
  TileMatrix a = tiles_of(assemble<real<double>>(tiles));
  for (double& value : a.values) value = round(value);
  return a;
}

TEST(CoarseInverse, SeesThatAMatrixIsSingularThoughItsValuesAreRounded) {
  Seed seed(7);
  const auto to_float = [](double value) -> double { return static_cast<float>(value); };
  const auto to_decimals = [](double value) { return std::round(value * 1e7) / 1e7; };
  for (const double contrast : {1.0, 1e2, 1e3, 1e4}) {
    SCOPED_TRACE(contrast);
    for (int draw = 0; draw < 30; ++draw) {
      const TileMatrix a = free_grid(9, contrast, to_float, seed.generator);
      const Eigen::MatrixXd dense = dense_of(a), inverse = dense_of(coarse_inverse(a, 1e-5));
      EXPECT_TRUE(is_positive_definite(inverse));
      // This would be 1 if constants were not a null vector.
      EXPECT_LE((inverse * (dense * Eigen::VectorXd::Ones(81))).cwiseAbs().maxCoeff(), 0.1);
      EXPECT_LE((dense * inverse * dense - dense).norm(), 1e-4 * dense.norm());
      const TileMatrix b = free_grid(9, contrast, to_decimals, seed.generator);
      EXPECT_NO_THROW(coarse_inverse(b, 1e-10));
    }
  }
}

TEST(CoarseInverse, IsDefiniteWhereAMatrixIsAlmostSingular) {
  const Eigen::MatrixXd dense{{1, -1}, {-1, 1 + 5e-6}};
  const Eigen::MatrixXd inverse = dense_of(coarse_inverse(tiles_of(from_dense(dense)), 1e-5));
  EXPECT_TRUE(is_positive_definite(inverse));
  EXPECT_LE(inverse.norm(), 10);
}

TEST(CoarseInverse, TellsWhatIsNoNumberFromWhatIsNegative) {
  using Limits = std::numeric_limits<double>;
  const auto kind_for = [](double diagonal, double off_diagonal) {
    TileMatrix a = tiles_of(from_dense(Eigen::MatrixXd{{1, 1, 1}, {1, 1, 1}, {1, 1, 1}}));
    a.values[8] = diagonal, a.values[1] = a.values[3] = off_diagonal;
    try {
      coarse_inverse(a, 1e-10);
    } catch (const Error& error) {
      return error.kind();
    }
    return ErrorKind::usage;  // none was thrown
  };
  EXPECT_EQ(kind_for(1, 1), ErrorKind::usage);
  EXPECT_EQ(kind_for(0.9, 1), ErrorKind::unsupported);
  EXPECT_EQ(kind_for(1, 0.9), ErrorKind::unsupported);
  for (const double value : {Limits::quiet_NaN(), Limits::infinity(), -Limits::infinity()}) {
    EXPECT_EQ(kind_for(value, 1), ErrorKind::not_finite);
    EXPECT_EQ(kind_for(1, value), ErrorKind::not_finite);
  }
}

TEST(LargestEigenvalue, IsThatOfTheMatrixScaledByItsDiagonal) {
  Seed seed(6);
  for (const int ring : {1, 2, 4}) {
    const TileMatrix b = random_tiles(15, 9, 8, {2, 2, ring}, seed.generator);
    Array<Offset> place;
    TileMatrix transpose = adjoint_pattern(b, host(1), place);
    conjugate_transpose(b, place, transpose, host(1));
    const TileMatrix a = product_of(transpose, b);
    const Eigen::MatrixXd dense = dense_of(a);
    const Eigen::Index size = 2 * ring;
    Eigen::MatrixXd diagonal = Eigen::MatrixXd::Zero(dense.rows(), dense.cols());
    for (Eigen::Index at = 0; at < dense.rows(); at += size) {
      diagonal.block(at, at, size, size) = dense.block(at, at, size, size);
    }
    const double expected = eigenvalues_of(dense, diagonal).maxCoeff();
    const UnsetArray<double> inverse = inverse_diagonal(a, host(1));
    const double found = largest_eigenvalue(a, inverse, Device::cpu(1));
    EXPECT_LE(found, expected * (1 + 1e-12));
    EXPECT_GE(found, 0.95 * expected);
    EXPECT_EQ(largest_eigenvalue(a, inverse, Device::cpu(3)), found);
  }
}

TEST(MendDiagonal, LeavesInvertibleTiles) {
  for (const int ring : {1, 2, 4}) {
    TileMatrix a;
    a.shape = {3, 3, ring};
    a.columns = 1;
    a.pattern.offsets = Array<Offset>(std::vector<Offset>{0, 1});
    a.pattern.column = Array<Index>(1);
    a.values = UnsetArray<double>(std::vector<double>(9 * static_cast<std::size_t>(ring)));
    // [4 2i 0; conj(2i) 1 0; 0 0 0]: the second pivot vanishes, and the third candidate is missing.
    double* const tile = a.tile(0);
    tile[0] = 4, tile[4 * ring] = 1;
    tile[1 * ring + ring - 1] = 2, tile[3 * ring + ring - 1] = ring > 1 ? -2 : 2;
    const double scale = 5;
    detail::SetupScratch scratch;
    mend_diagonal(a, {&scale, 1}, 1e-10, scratch, host(1));
    EXPECT_EQ(tile[0], 4);
    EXPECT_EQ(tile[4 * ring], 6);
    EXPECT_EQ(tile[8 * ring], 5);
    EXPECT_NO_THROW(inverse_diagonal(a, host(1)));
    // The second pivot is negative, by more than rounding.
    tile[4 * ring] = 0.9;
    EXPECT_THROW(mend_diagonal(a, {&scale, 1}, 1e-10, scratch, host(1)), Error);
    EXPECT_THROW(inverse_diagonal(a, host(1)), Error);
  }
}

}  // namespace
}  // namespace heddle::test::multigrid_setup
