// Runs in both builds.
// LOBPCG against known spectra, and against Eigen's dense solver on the real expansion.
#include "heddle/lobpcg.hpp"
#include "base/long_double.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <numbers>
#include <string>
#include <vector>

#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"
#include "support/few_entries.hpp"
#include "support/systems/eigen_systems.hpp"
#include "support/where_it_runs.hpp"

namespace heddle::test::lobpcg {
namespace {

const Eigen::MatrixXd no_mass;

/// The negative second difference, 2 on the diagonal.
TileRows line(Index n) {
  TileRows tiles(1, n);
  for (Index i = 0; i < n; ++i) {
    tiles.at(i, i)(0, 0) = 2;
    if (i > 0) tiles.at(i, i - 1)(0, 0) = tiles.at(i - 1, i)(0, 0) = -1;
  }
  return tiles;
}
double eigenvalue_of_line(Index n, int k) {
  const double s = std::sin(k * std::numbers::pi / (2.0 * (n + 1)));
  return 4 * s * s;
}
/// The five-point stencil on a square of n x n: most eigenvalues are double.
TileRows square(Index n) {
  TileRows tiles(1, n * n);
  for (Index i = 0; i < n * n; ++i) {
    tiles.at(i, i)(0, 0) = 4;
    if (i % n > 0) tiles.at(i, i - 1)(0, 0) = tiles.at(i - 1, i)(0, 0) = -1;
    if (i >= n) tiles.at(i, i - n)(0, 0) = tiles.at(i - n, i)(0, 0) = -1;
  }
  return tiles;
}

TEST(Lobpcg, FindsTheSpectrumOfALine) {
  HEDDLE_RELEASE_ONLY();
  using E = real<double>;
  for (const Index n : {3, 10, 77, 200}) {
    const auto matrix = assemble<E>(line(n));
    const Operator<E> A(matrix, Plan{});
    for (const int count : {1, 2, 3}) {
      SCOPED_TRACE(std::to_string(n) + " rows, " + std::to_string(count));
      auto x = zero_fields<E>(count, n);
      Lobpcg solver(A, {.count = count});
      const EigenReport report = solver.solve(views_of(x));
      ASSERT_TRUE(report.converged()) << name(report.status);
      for (int k = 0; k < count; ++k) {
        EXPECT_NEAR(report.eigenvalues[static_cast<std::size_t>(k)], eigenvalue_of_line(n, k + 1),
                    1e-10);
        EXPECT_LE(report.residuals[static_cast<std::size_t>(k)], 1e-8);
      }
      expect_eigenpairs(expansion_of(matrix), no_mass, x, report, 1e-12);
    }
  }
}

TEST(Lobpcg, FindsDoubleEigenvaluesOfASquare) {
  HEDDLE_RELEASE_ONLY();
  using E = real<double>;
  constexpr Index n = 23;
  const auto matrix = assemble<E>(square(n));
  std::vector<double> expected;
  for (int i = 1; i <= 9; ++i) {
    for (int j = 1; j <= 9; ++j) {
      expected.push_back(eigenvalue_of_line(n, i) + eigenvalue_of_line(n, j));
    }
  }
  std::sort(expected.begin(), expected.end());
  for (const char* plan : {"CSR", "pJDS", "K1rs"}) {
    const Operator<E> A(matrix, parse_plan(plan));
    for (const int count : {1, 2, 4, 9, 16}) {
      SCOPED_TRACE(std::string(plan) + " " + std::to_string(count));
      auto x = zero_fields<E>(count, n * n);
      Lobpcg solver(A, Jacobi(A), {.count = count});
      const EigenReport report = solver.solve(views_of(x));
      ASSERT_TRUE(report.converged()) << name(report.status);
      for (std::size_t k = 0; k < x.size(); ++k) {
        EXPECT_NEAR(report.eigenvalues[k], expected[k], 1e-11);
      }
      expect_eigenpairs(expansion_of(matrix), no_mass, x, report, 1e-12);
    }
  }
}

template <class E>
class LobpcgOf : public testing::Test {};
using Entries = testing::Types<real<double>, complex<double>, quaternion<double>,
                               block<double, 3, 3>, block<complex<double>, 3, 3>>;
TYPED_TEST_SUITE(LobpcgOf, FewOf<Entries>);

TYPED_TEST(LobpcgOf, AgreesWithADenseSolver) {
  if (group_of_entry<TypeParam> != EntryGroup::complex) HEDDLE_RELEASE_ONLY();
  using E = TypeParam;
  constexpr int ring = ring_size(E::ring);
  for (const Index rows : {1, 2, 5, 24, 63}) {
    Seed seed(static_cast<std::uint64_t>(8000 + rows));
    const auto matrix = random_hermitian_matrix<E>(rows, 6, seed.generator);
    const Eigen::MatrixXd dense = expansion_of(matrix);
    const Eigen::VectorXd expected = eigenvalues_of(dense);
    const auto pairs = static_cast<int>(expected.size()) / ring;
    const Operator<E> A(matrix, parse_plan(rows % 2 == 0 ? "CSR" : "pJDS"));
    for (const int count : {1, 3, 8}) {
      if (count > pairs) continue;
      SCOPED_TRACE(std::to_string(rows) + " rows, " + std::to_string(count));
      auto x = zero_fields<E>(count, rows);
      Lobpcg solver(A, {.count = count});
      const EigenReport report = solver.solve(views_of(x));
      ASSERT_TRUE(report.converged()) << name(report.status) << " " << report.detail;
      expect_eigenpairs(dense, no_mass, x, report, 1e-12);
      for (int k = 0; k < count; ++k) {
        const double found = report.eigenvalues[static_cast<std::size_t>(k)];
        for (int copy = 0; copy < ring; ++copy) {
          EXPECT_NEAR(found, expected[k * ring + copy], 1e-9) << k;
        }
      }
    }
  }
}

TYPED_TEST(LobpcgOf, SolvesGeneralisedProblems) {
  using E = TypeParam;
  constexpr int ring = ring_size(E::ring);
  for (const Index rows : {2, 41}) {
    Seed seed(static_cast<std::uint64_t>(8100 + rows));
    const auto matrix = random_hermitian_matrix<E>(rows, 6, seed.generator);
    const auto mass = random_positive_definite_matrix<E>(rows, 4, seed.generator);
    const Eigen::MatrixXd dense = expansion_of(matrix), dense_mass = expansion_of(mass);
    const Eigen::VectorXd expected = eigenvalues_of(dense, dense_mass);
    const Plan plan = parse_plan("pJDS");
    const Operator<E> A(matrix, plan), M(mass.view(), plan, A.row_basis());
    constexpr int count = 2;
    auto x = zero_fields<E>(count, rows);
    Lobpcg solver(A, M, {.count = count});
    const EigenReport report = solver.solve(views_of(x));
    ASSERT_TRUE(report.converged()) << name(report.status) << " " << report.detail;
    expect_eigenpairs(dense, dense_mass, x, report, 1e-12);
    for (int k = 0; k < count; ++k) {
      EXPECT_NEAR(report.eigenvalues[static_cast<std::size_t>(k)], expected[k * ring], 1e-10);
    }
  }
}

/// A unit of the ring times an eigenvector is another vector with the same eigenvalue, and
/// independent of the first one over the reals.
TEST(Lobpcg, CountsAnEigenvalueOnceThatStandsFourTimesInTheExpansion) {
  HEDDLE_RELEASE_ONLY();
  using E = quaternion<double>;
  Seed seed(8200);
  constexpr Index rows = 30;
  const auto matrix = random_hermitian_matrix<E>(rows, 6, seed.generator);
  const Eigen::MatrixXd dense = expansion_of(matrix);
  TileRows tiles(1, rows * 4);
  for (Index i = 0; i < rows * 4; ++i) {
    for (Index j = 0; j < rows * 4; ++j) {
      if (dense(i, j) != 0) tiles.at(i, j)(0, 0) = dense(i, j);
    }
  }
  const Operator<E> A(matrix, Plan{});
  const Operator<real<double>> B(assemble<real<double>>(tiles), Plan{});
  auto x = zero_fields<E>(3, rows);
  auto y = zero_fields<real<double>>(12, rows * 4);
  Lobpcg over_quaternions(A, {.count = 3}), over_reals(B, {.count = 12});
  const EigenReport found = over_quaternions.solve(views_of(x));
  const EigenReport expanded = over_reals.solve(views_of(y));
  ASSERT_TRUE(found.converged() && expanded.converged());
  EXPECT_GT(found.eigenvalues[1] - found.eigenvalues[0], 1e-3);
  for (std::size_t k = 0; k < 12; ++k) {
    EXPECT_NEAR(expanded.eigenvalues[k], found.eigenvalues[k / 4], 1e-10) << k;
  }
}

/// D Q diag Q* D over the ring, with known eigenvalues if D = 1.
TEST(Lobpcg, SeparatesClusters) {
  HEDDLE_RELEASE_ONLY();
  using E = quaternion<double>;
  constexpr Index rows = 60;
  // 2 x 2 blocks [a q; conj(q) a] with |q| = 1 have the eigenvalues a - 1 and a + 1.
  Seed seed(8300);
  Tiles<E> tiles(rows);
  std::vector<double> expected;
  for (Index i = 0; i < rows; i += 2) {
    E q = random_components<E>(seed.generator);
    double norm = 0;
    for (const double c : q.component) norm += c * c;
    for (double& c : q.component) c /= std::sqrt(norm);
    // Three equal eigenvalues, four within 1e-7, and others far away.
    const double least = i < 6 ? 1 : i < 14 ? 2 + 1e-8 * i : 5 + i;
    tiles.at(i, i) = tiles.at(i + 1, i + 1) = (least + 1) * Eigen::MatrixXd::Identity(4, 4);
    tiles.at(i, i + 1) = tile_of(q);
    tiles.at(i + 1, i) = tile_of(q).transpose();
    expected.push_back(least);
    expected.push_back(least + 2);
  }
  std::sort(expected.begin(), expected.end());
  const auto matrix = tiles.assemble();
  const Operator<E> A(matrix, Plan{});
  for (const int count : {2, 3, 5, 7}) {
    auto x = zero_fields<E>(count, rows);
    Lobpcg solver(A, {.count = count, .tolerance = 1e-10});
    const EigenReport report = solver.solve(views_of(x));
    ASSERT_TRUE(report.converged()) << name(report.status);
    for (std::size_t k = 0; k < x.size(); ++k) {
      EXPECT_NEAR(report.eigenvalues[k], expected[k], 1e-12) << count;
    }
    expect_eigenpairs(expansion_of(matrix), no_mass, x, report, 1e-12);
  }
}

TEST(Lobpcg, JacobiHelpsWhereTheDiagonalVaries) {
  HEDDLE_RELEASE_ONLY();
  using E = quaternion<double>;
  Seed seed(8400);
  constexpr Index rows = 200;
  auto tiles = Tiles<E>(rows);
  for (Index i = 0; i < rows; ++i) {
    tiles.at(i, i) = (1.0 + i * i) * Eigen::MatrixXd::Identity(4, 4);
    if (i == 0) continue;
    const Eigen::MatrixXd off_diagonal = random_tile<E>(seed.generator, 0.4);
    tiles.at(i, i - 1) = off_diagonal;
    tiles.at(i - 1, i) = off_diagonal.transpose();
  }
  const auto matrix = tiles.assemble();
  const Eigen::VectorXd expected = eigenvalues_of(expansion_of(matrix));
  const Operator<E> A(matrix, Plan{});
  const EigenOptions options{.count = 4, .tolerance = 1e-12};
  auto x = zero_fields<E>(4, rows), y = zero_fields<E>(4, rows);
  Lobpcg with(A, Jacobi(A), options), without(A, options);
  const EigenReport helped = with.solve(views_of(x)), plain = without.solve(views_of(y));
  ASSERT_TRUE(helped.converged()) << name(helped.status);
  ASSERT_TRUE(plain.converged()) << name(plain.status);
  EXPECT_LT(helped.iterations * 3, plain.iterations);
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(helped.eigenvalues[k], expected[static_cast<Eigen::Index>(4 * k)], 1e-8);
  }
}

TEST(Lobpcg, GoesOnWithoutAnIndefinitePreconditioner) {
  HEDDLE_RELEASE_ONLY();
  using E = quaternion<double>;
  Seed seed(8450);
  const auto matrix = random_hermitian_matrix<E>(200, 6, seed.generator);
  const Eigen::VectorXd expected = eigenvalues_of(expansion_of(matrix));
  const Operator<E> A(matrix, Plan{});
  auto x = zero_fields<E>(3, 200);
  Lobpcg solver(A, Jacobi(A), {.count = 3});
  const EigenReport report = solver.solve(views_of(x));
  ASSERT_TRUE(report.converged()) << name(report.status);
  EXPECT_NE(report.detail.find("and was dropped"), report.detail.npos);
  Lobpcg precise(A, Jacobi(A), {.count = 3, .tolerance = 0});
  const EigenReport limited = precise.solve(views_of(x));
  EXPECT_EQ(limited.status, Status::accuracy_limit) << name(limited.status);
  EXPECT_NE(limited.detail.find("; r* M^-1 r"), limited.detail.npos) << limited.detail;
  for (std::size_t k = 0; k < 3; ++k) {
    EXPECT_NEAR(report.eigenvalues[k], expected[static_cast<Eigen::Index>(4 * k)], 1e-9);
  }
}

TEST(Lobpcg, FindsZeroOfASingularMatrix) {
  HEDDLE_RELEASE_ONLY();
  using E = real<double>;
  TileRows tiles = line(50);
  tiles.at(0, 0)(0, 0) = tiles.at(49, 49)(0, 0) = 1;
  const Operator<E> A(assemble<E>(tiles), Plan{});
  auto x = zero_fields<E>(2, 50);
  Lobpcg solver(A, {.count = 2, .tolerance = 1e-12});
  const EigenReport report = solver.solve(views_of(x));
  ASSERT_TRUE(report.converged()) << name(report.status);
  EXPECT_NEAR(report.eigenvalues[0], 0, 1e-12);
  EXPECT_NEAR(report.eigenvalues[1], std::pow(2 * std::sin(std::numbers::pi / 100), 2), 1e-12);
}

template <class E>
void expect_as_dense(double tolerance, double rounding) {
  constexpr int ring = ring_size(E::ring);
  Seed seed(8500);
  constexpr Index rows = 57;
  const auto matrix = random_hermitian_matrix<E>(rows, 5, seed.generator);
  const Eigen::VectorXd expected = eigenvalues_of(expansion_of(matrix));
  const Operator<E> A(matrix, parse_plan("pJDS"));
  auto x = zero_fields<E>(3, rows);
  Lobpcg solver(A, {.count = 3});
  const EigenReport report = solver.solve(views_of(x));
  ASSERT_TRUE(report.converged()) << name(report.status);
  expect_eigenpairs(expansion_of(matrix), no_mass, x, report, rounding);
  for (int k = 0; k < 3; ++k) {
    EXPECT_NEAR(report.eigenvalues[static_cast<std::size_t>(k)], expected[k * ring], tolerance);
  }
}
TEST(Lobpcg, IteratesInOtherPrecisions) {
  HEDDLE_RELEASE_ONLY();
  expect_as_dense<real<float>>(1e-5, 1e-5);
  expect_as_dense<complex<float>>(1e-5, 1e-5);
  expect_as_dense<quaternion<float>>(1e-5, 1e-5);
  HEDDLE_IN_LONG_DOUBLE(expect_as_dense<real<long double>>(1e-12, 1e-12);
                        expect_as_dense<quaternion<long double>>(1e-12, 1e-12);)
}

/// The error is at most four times the estimate, which does not exceed the residual.
TEST(Lobpcg, EstimatesErrors) {
  HEDDLE_RELEASE_ONLY();
  using E = real<double>;
  constexpr Index n = 60;
  const Operator<E> A(assemble<E>(line(n)), Plan{});
  for (const double tolerance : {1e-2, 1e-4, 1e-6, 0.0}) {
    auto x = zero_fields<E>(3, n);
    Lobpcg solver(A, {.count = 3, .tolerance = tolerance});
    const EigenReport report = solver.solve(views_of(x));
    ASSERT_EQ(report.error_estimates.size(), 3u);
    for (std::size_t k = 0; k < 3; ++k) {
      const double error =
          std::abs(report.eigenvalues[k] - eigenvalue_of_line(n, static_cast<int>(k) + 1));
      EXPECT_LE(error, 4 * report.error_estimates[k] + 1e-15) << tolerance << " " << k;
      EXPECT_LE(report.error_estimates[k], report.residual_norms[k] + 1e-14);
    }
  }
}

/// A penalty dominates |A|: the estimate says that no digit is right.
TEST(Lobpcg, SaysThatAPenaltyLeavesNoDigits) {
  HEDDLE_RELEASE_ONLY();
  using E = real<float>;
  TileRows tiles = line(100);
  tiles.at(0, 0)(0, 0) = 1e15;
  const Operator<E> A(assemble<E>(tiles), Plan{});
  auto x = zero_fields<E>(2, 100);
  Lobpcg solver(A, {.count = 2});
  const EigenReport report = solver.solve(views_of(x));
  ASSERT_EQ(report.error_estimates.size(), 2u);
  EXPECT_GT(report.error_estimates[0], 1e3);
}

TEST(Lobpcg, RepeatsItsBits) {
  HEDDLE_RELEASE_ONLY();
  using E = quaternion<double>;
  Seed seed(8600);
  constexpr Index rows = 3000;
  const auto matrix = random_positive_definite_matrix<E>(rows, 6, seed.generator);
  const auto solve = [&](int threads, const std::string& plan, std::uint64_t number) {
    const Operator<E> A(matrix, parse_plan(plan), Device::cpu(threads));
    auto x = zero_fields<E>(3, rows);
    Lobpcg solver(A, Jacobi(A), {.count = 3, .tolerance = 1e-5, .seed = number});
    solver.solve(views_of(x));
    for (auto& field : x) std::fill(field.scalars().begin(), field.scalars().end(), 0.0);
    const EigenReport report = solver.solve(views_of(x));  // again
    EXPECT_TRUE(report.converged()) << name(report.status);
    std::vector<double> all = report.eigenvalues;
    for (const auto& field : x) {
      all.insert(all.end(), field.scalars().begin(), field.scalars().end());
    }
    return all;
  };
  const auto once = solve(1, "pJDS", 1);
  EXPECT_EQ(once, solve(1, "pJDS", 1));
  EXPECT_EQ(once, solve(4, "pJDS", 1));
  EXPECT_EQ(once, solve(3, "pJDS,schedule=dynamic", 1));
  EXPECT_NE(once, solve(1, "pJDS", 2));
}

TEST(Lobpcg, BeginsFromGuesses) {
  HEDDLE_RELEASE_ONLY();
  using E = quaternion<double>;
  Seed seed(8700);
  constexpr Index rows = 80;
  const auto matrix = random_hermitian_matrix<E>(rows, 6, seed.generator);
  const Operator<E> A(matrix, parse_plan("pJDS"));
  auto x = zero_fields<E>(4, rows);
  Lobpcg solver(A, {.count = 4});
  const EigenReport first = solver.solve(views_of(x));
  ASSERT_TRUE(first.converged());
  EXPECT_GT(first.iterations, 5);
  const EigenReport again = solver.solve(views_of(x));
  ASSERT_TRUE(again.converged());
  EXPECT_LE(again.iterations, 1);
  // Linearly dependent guesses, and one that is zero.
  std::copy(x[0].scalars().begin(), x[0].scalars().end(), x[1].scalars().begin());
  std::fill(x[2].scalars().begin(), x[2].scalars().end(), 0.0);
  const EigenReport third = solver.solve(views_of(x));
  ASSERT_TRUE(third.converged());
  for (std::size_t k = 0; k < 4; ++k) {
    EXPECT_NEAR(third.eigenvalues[k], first.eigenvalues[k], 1e-11);
  }
  expect_eigenpairs(expansion_of(matrix), no_mass, x, third, 1e-12);
}

}  // namespace
}  // namespace heddle::test::lobpcg
