// Runs in both builds.
// Block Jacobi against dense inverses of diagonal blocks, and its effect on a solve.
#include "heddle/block_jacobi.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <string>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/complex_symmetric.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/minres.hpp"
#include "heddle/problems.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/complex_symmetric_matrix.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/dense_map.hpp"
#include "support/systems/systems.hpp"
#include "support/where_it_runs.hpp"

namespace heddle::test::block_jacobi {
namespace {

using Dense = DenseMap;
constexpr const char* plans[] = {"CSR", "pJDS", "order=rcm,C=4,sigma=16,vector=soa",
                                 "C=4,sigma=16,use=scatter"};

std::vector<Index> groups_of(Index rows, Index size) {
  std::vector<Index> starts;
  for (Index row = 0; row < rows; row += size) starts.push_back(row);
  starts.push_back(rows);
  return starts;
}

template <class E>
Dense expected_inverse(const CsrMatrix<E>& matrix, std::span<const Index> groups) {
  constexpr int K = vector_entry_t<E>::components;
  const Dense A = expansion<long double>(matrix);
  Dense inverse = Dense::Zero(A.rows(), A.cols());
  for (std::size_t g = 1; g < groups.size(); ++g) {
    const Eigen::Index first = groups[g - 1] * K, count = groups[g] * K - first;
    inverse.block(first, first, count, count) =
        inverse_by_full_pivots<long double>(A.block(first, first, count, count));
  }
  return inverse;
}

/// Diagonal entries are smaller than those next to them: only pivoting makes such blocks stable.
template <class E>
CsrMatrix<E> general_matrix(Index rows, Generator& generator) {
  auto tiles = dominant_tiles(Tiles<E>::size, random_tile<E>, rows, 3, 0.5, generator);
  for (Index i = 0; i < rows; ++i) {
    tiles.at(i, i) = random_tile<E>(generator, 0.01);
    if (rows > 1)
      tiles.at(i, i % 2 == 0 && i + 1 < rows ? i + 1 : i - 1) += random_tile<E>(generator, 3);
  }
  return assemble<E>(tiles);
}

/// Hermitian positive definite, with off-diagonal entries in each row.
template <class E>
CsrMatrix<E> hermitian_matrix(Index rows, Generator& generator, double diagonal = 3) {
  Tiles<E> tiles(rows);
  for (Index i = 0; i < rows; ++i) {
    const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(Tiles<E>::size, Tiles<E>::size);
    tiles.at(i, i) += diagonal * one;
    for (const Index j : {i - 1, i - 2, i - 9}) {
      if (j < 0) continue;
      const Eigen::MatrixXd tile = random_tile<E>(generator, 0.45);
      tiles.at(i, j) += tile;
      tiles.at(j, i) += tile.transpose();
    }
  }
  return tiles.assemble();
}

template <class E>
class BlockJacobiOf : public ::testing::Test {};
using Entries = ::testing::Types<real<double>, real<double, 3>, complex<double>, quaternion<double>,
                                 dual_quaternion<double>, block<double, 3, 3>,
                                 block<complex<double>, 2, 2>, real<float>, quaternion<float>>;
TYPED_TEST_SUITE(BlockJacobiOf, FewOf<Entries>);

template <class E>
void expect_inverse(const CsrMatrix<E>& matrix, int entries) {
  for (const char* plan : plans) {
    SCOPED_TRACE(std::string(plan) + ", " + std::to_string(matrix.rows()) + " rows, groups of " +
                 std::to_string(entries));
    const Operator<E> A(matrix, parse_plan(plan));
    const BlockJacobi preconditioner(A, entries);
    if (entries > 0) {
      EXPECT_TRUE(std::ranges::equal(preconditioner.groups(), groups_of(matrix.rows(), entries)));
    }
    const Dense expected = expected_inverse(matrix, preconditioner.groups());
    const long double defect = (dense_of(A, preconditioner) - expected).norm() / expected.norm();
    const double digits = std::is_same_v<stored_scalar_t<E>, float> ? 1e-6 : 1e-11;
    EXPECT_TRUE(defect <= digits) << defect;
  }
}

/// 13 rows end in a ragged group; a single row is one.
TYPED_TEST(BlockJacobiOf, AnyMatrixHasTheInversesOfItsBlocks) {
  using E = TypeParam;
  constexpr int most = std::max(32 / vector_entry_t<E>::components, 1);
  for (const Index rows : {13, 2, 1}) {
    for (const int entries : {1, 2, 3, 4, most, 0}) {
      Seed seed(static_cast<std::uint64_t>(100 * rows + entries));
      expect_inverse(general_matrix<E>(rows, seed.generator), entries);
    }
  }
}

template <class E>
class HermitianBlockJacobiOf : public ::testing::Test {};
using HermitianEntries =
    ::testing::Types<real<double>, complex<double>, quaternion<double>, block<double, 3, 3>,
                     block<complex<double>, 2, 2>, quaternion<float>>;
TYPED_TEST_SUITE(HermitianBlockJacobiOf, FewOf<HermitianEntries>);

TYPED_TEST(HermitianBlockJacobiOf, HermitianBlocksKeepTheirSymmetryToTheLastBit) {
  using E = TypeParam;
  for (const int entries : {2, 3, 0}) {
    Seed seed(static_cast<std::uint64_t>(10 + entries));
    const auto matrix = hermitian_matrix<E>(23, seed.generator);
    expect_inverse(matrix, entries);
    const Operator<E> A(matrix, parse_plan("pJDS"));
    const Dense inverse = dense_of(A, BlockJacobi(A, entries));
    EXPECT_EQ(inverse, Dense(inverse.transpose()));
    EXPECT_TRUE(is_positive_definite(inverse));
  }
}

/// Rows and columns scaled by factors from 1 to 1e-12 do not hide an asymmetry.
TEST(BlockJacobi, SmallElementsThatAreNotSymmetricStayAsTheyAre) {
  Tiles<real<double>> tiles(4);
  const double scale[] = {1, 0x1p-40, 0x1p20, 0x1p-10};
  // The reference is the inverse of the unscaled matrix: powers of 2 undo the scales exactly.
  Dense unscaled(4, 4);
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) {
      const double element = i == j ? 3 : i < j ? 1 : 0.25;
      unscaled(i, j) = element;
      tiles.at(i, j)(0, 0) = scale[i] * scale[j] * element;
    }
  }
  const Operator<real<double>> A(tiles.assemble(), Plan{});
  Dense found = dense_of(A, BlockJacobi(A, 4));
  for (Index i = 0; i < 4; ++i) {
    for (Index j = 0; j < 4; ++j) found(i, j) *= static_cast<long double>(scale[i]) * scale[j];
  }
  const Dense expected = LuFactors(unscaled).inverse();
  EXPECT_TRUE((found - expected).norm() <= 1e-13 * expected.norm()) << found;
}

/// Fields of 2, 3 and 1 unknowns at a point, and points joined up to the limit.
TEST(BlockJacobi, NaturalGroupsKeepRowsOfOnePatternTogether) {
  const std::vector<Index> sizes = {3, 2, 3, 1, 3, 40, 30, 5, 1};
  std::vector<Index> first{0};
  for (const Index size : sizes) first.push_back(first.back() + size);
  Tiles<real<double>> tiles(first.back());
  // Point p has its own columns and the first column of the point before.
  for (std::size_t p = 0; p < sizes.size(); ++p) {
    for (Index i = first[p]; i < first[p + 1]; ++i) {
      for (Index j = first[p]; j < first[p + 1]; ++j) tiles.at(i, j)(0, 0) = i == j ? 50 : -1;
      if (p > 0) tiles.at(i, first[p - 1])(0, 0) = -1;
    }
  }
  const Operator<real<double>> A(tiles.assemble(), parse_plan("C=8,sigma=16"));
  const BlockJacobi preconditioner(A);
  // 12 rows; 32 of the 40, whose other 8 rows form a group alone; 30; 5 and 1.
  const std::vector<Index> expected = {0, 12, 44, 52, 82, 88};
  const auto groups = preconditioner.groups();
  EXPECT_EQ(std::vector<Index>(groups.begin(), groups.end()), expected);
}

TEST(BlockJacobi, DiagonalEntriesMayBeMissingWhereTheBlockIsRegular) {
  // [[0, 1], [1, 0]] twice, then a diagonal.
  const Offset offsets[] = {0, 1, 2, 3, 4, 5};
  const Index columns[] = {1, 0, 3, 2, 4};
  const double values[] = {1, 2, 4, 8, 16};
  const Operator<real<double>> A({5, 5, offsets, columns, values}, Plan{});
  const Dense inverse = dense_of(A, BlockJacobi(A, 2));
  Dense expected = Dense::Zero(5, 5);
  expected(1, 0) = 1, expected(0, 1) = 0.5L, expected(3, 2) = 0.25L, expected(2, 3) = 0.125L;
  expected(4, 4) = 0.0625L;
  EXPECT_EQ(inverse, expected);
}

TEST(BlockJacobi, ThreadsDoNotChangeABit) {
  const auto matrix = elasticity(3000);
  const auto bits = [&](int threads) {
    const Operator<block<double, 3, 3>> A(matrix, parse_plan("pJDS"), Device::cpu(threads));
    const BlockJacobi preconditioner(A);
    const auto values = preconditioner.inverse().stored_values();
    return std::vector<std::byte>(values.begin(), values.end());
  };
  EXPECT_EQ(bits(1), bits(3));
}

template <template <class> class Method, class E>
long long iterations(const Operator<E>& A, std::shared_ptr<Preconditioner<double>> preconditioner) {
  Seed seed(6);
  const auto b = random_vector<E>(A.rows(), seed.generator);
  Field<E> x(A.rows());
  Method<double> solver(A, std::move(preconditioner), {.tolerance = 1e-9});
  const Report report = solver.solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  return report.iterations;
}

template <template <class> class Method, class E>
void expect_fewer_iterations(const Operator<E>& A, int entries) {
  const auto jacobi = iterations<Method>(A, std::make_shared<detail::SlicedJacobi<double>>(A));
  const auto blocks = iterations<Method>(A, std::make_shared<BlockJacobi<double>>(A, entries));
  EXPECT_LT(blocks, jacobi);
}

TEST(BlockJacobi, SolvesInFewerIterationsThanJacobi) {
  HEDDLE_RELEASE_ONLY();
  const Operator<block<double, 3, 3>> A(elasticity(900), parse_plan("pJDS"));
  for (const int entries : {0, 4}) {
    expect_fewer_iterations<ConjugateGradient>(A, entries);
    expect_fewer_iterations<Minres>(A, entries);
  }
  Seed seed(7);
  const Operator<quaternion<double>> B(hermitian_matrix<quaternion<double>>(200, seed.generator),
                                       parse_plan("pJDS"));
  expect_fewer_iterations<ConjugateGradient>(B, 4);
  expect_fewer_iterations<BiCGStab>(B, 4);
}

TEST(BlockJacobi, ComplexSymmetricBlocksStaySo) {
  using E = complex<double>;
  Seed seed(8);
  const auto matrix = random_complex_symmetric_matrix<E>(90, 30, seed.generator);
  const Operator<E> A(matrix, Plan{});
  const BlockJacobi preconditioner(A, 8);
  const Dense inverse = dense_of(A, preconditioner);
  for (Index i = 0; i < 90; ++i) {
    for (Index j = 0; j < 90; ++j) {
      EXPECT_EQ(inverse(2 * i, 2 * j), inverse(2 * j, 2 * i));
      EXPECT_EQ(inverse(2 * i + 1, 2 * j), inverse(2 * j + 1, 2 * i));
    }
  }
  EXPECT_GT(iterations<Cocr>(A, std::make_shared<BlockJacobi<double>>(A, 8)), 0);
}

TEST(BlockJacobi, NewValuesMakeANewInverse) {
  using E = quaternion<double>;
  Seed seed(9);
  auto matrix = hermitian_matrix<E>(61, seed.generator);
  Operator<E> A(matrix, parse_plan("pJDS"));
  BlockJacobi preconditioner(A, 3);
  const Dense before = dense_of(A, preconditioner);
  const auto* const place = preconditioner.inverse().stored_values().data();
  for (double& value : matrix.values()) value *= 4;
  A.update_values(matrix);
  EXPECT_EQ(dense_of(A, preconditioner), before);
  preconditioner.refresh();
  EXPECT_EQ(Dense(4 * dense_of(A, preconditioner)), before);
  EXPECT_EQ(preconditioner.inverse().stored_values().data(), place);
}

TEST(BlockJacobi, MixedPrecisionKeepsItInFloats) {
  Seed seed(10);
  using E = block<double, 3, 3>;
  const auto matrix = hermitian_matrix<E>(40, seed.generator);
  const Operator<E> A(matrix, parse_plan("CSR,iteration-precision=single")), B(matrix, Plan{});
  const BlockJacobi narrow(A, 4), own(B, 4);
  EXPECT_EQ(2 * narrow.inverse().stored_values().size(), own.inverse().stored_values().size());
  const Dense expected = dense_of(B, own);
  EXPECT_TRUE((dense_of(A, narrow) - expected).norm() <= 1e-6 * expected.norm());
}

TEST(BlockJacobi, CountsBlocksWithoutInverseAsTheirSizeAndNamesTheFirstThatIsNotFinite) {
  Tiles<real<double>> tiles(11);
  for (Index i = 0; i < 11; ++i) tiles.at(i, i)(0, 0) = 2;
  auto singular = tiles;
  for (const Index i : {6, 7}) singular.at(6, i)(0, 0) = singular.at(7, i)(0, 0) = 2;
  singular.at(2, 2)(0, 0) = singular.at(10, 10)(0, 0) = 0;
  auto nan = tiles;
  nan.at(4, 5)(0, 0) = nan.at(9, 8)(0, 0) = std::nan("");
  Dense expected = Dense::Identity(11, 11) / 2;
  for (const Index one : {2, 10}) expected(one, one) = 1;
  for (const char* plan : plans) {
    SCOPED_TRACE(plan);
    const Operator<real<double>> A(singular.assemble(), parse_plan(plan)),
        B(nan.assemble(), parse_plan(plan));
    EXPECT_EQ(dense_of(A, BlockJacobi(A, 2)), expected);
    expect_error(ErrorKind::singular,
                 "block Jacobi: the block of rows 4 to 5 (counted from 0) has a number that is not "
                 "finite",
                 [&] { BlockJacobi(B, 2); });
  }
}

TEST(BlockJacobi, RefusesOtherGroups) {
  Seed seed(11);
  const Operator<quaternion<double>> A(hermitian_matrix<quaternion<double>>(9, seed.generator),
                                       Plan{});
  expect_error(ErrorKind::usage, "block Jacobi takes groups of 1 to 8 of these entries, not 9",
               [&] { BlockJacobi(A, 9); });
  expect_error(ErrorKind::usage, "block Jacobi takes groups of 1 to 8 of these entries, not -1",
               [&] { BlockJacobi(A, -1); });
  const Offset offsets[] = {0};
  const Operator<real<double>> none({0, 0, offsets, nullptr, nullptr}, Plan{});
  for (const int entries : {0, 3}) {
    const BlockJacobi preconditioner(none, entries);
    Field<real<double>> r(0), z(0);
    preconditioner.apply(r, z, none.device().stream());
  }
}

}  // namespace
}  // namespace heddle::test::block_jacobi
