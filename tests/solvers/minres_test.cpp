// Runs in both builds.
// MINRES over every entry: each of its residuals is the smallest in the Krylov space over real
// coefficients, and Hermitian systems need not be definite.
#include "heddle/minres.hpp"
#include "base/long_double.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <initializer_list>
#include <limits>
#include <vector>

#include "heddle/jacobi.hpp"
#include "support/few_entries.hpp"
#include "support/row_weights.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/eigen_preconditioners.hpp"
#include "support/systems/systems.hpp"
#include "support/where_it_runs.hpp"

namespace heddle::test::minres {
namespace {

/// Hermitian; the diagonal outweighs its rows by 1, and is negative in every second row.
template <class E>
CsrMatrix<E> indefinite_matrix(Index n, Generator& generator) {
  Tiles<E> tiles(n);
  std::vector<double> weight(static_cast<std::size_t>(n), 1.0);
  for (Index i = 0; i < n; ++i) {
    for (int edge = 0; edge < 3; ++edge) {
      const auto j = static_cast<Index>(generator() % static_cast<unsigned>(n));
      if (i == j) continue;
      const Eigen::MatrixXd tile = random_tile<E>(generator, 0.7);
      tiles.at(i, j) += tile;
      tiles.at(j, i) += tile.transpose();
      weight[static_cast<std::size_t>(i)] += tile.norm();
      weight[static_cast<std::size_t>(j)] += tile.norm();
    }
  }
  for (Index i = 0; i < n; ++i) {
    const double sign = i % 2 == 0 ? 1 : -1;
    tiles.at(i, i) += sign * weight[static_cast<std::size_t>(i)] *
                      Eigen::MatrixXd::Identity(tiles.size, tiles.size);
  }
  return tiles.assemble();
}

/// The smallest |b - A x| / |b| for x in the Krylov spaces of M^-1 A of dimension 0, 1, ...
std::vector<double> smallest_residuals(const Eigen::MatrixXd& A, const Eigen::VectorXd& weights,
                                       const Vector<double>& b, int steps) {
  using Long = Eigen::Matrix<long double, -1, -1>;
  const Long wide = A.cast<long double>();
  const Eigen::Matrix<long double, -1, 1> rhs = b.cast<long double>(),
                                          scale = weights.cast<long double>();
  Long basis(A.rows(), steps);
  std::vector<double> residuals{1};
  for (int k = 0; k < steps; ++k) {
    Eigen::Matrix<long double, -1, 1> next = scale.cwiseProduct(
        k == 0 ? rhs : Eigen::Matrix<long double, -1, 1>(wide * basis.col(k - 1)));
    for (int twice = 0; twice < 2; ++twice) {
      for (int i = 0; i < k; ++i) next -= basis.col(i).dot(next) * basis.col(i);
    }
    basis.col(k) = next / next.norm();
    const Long image = wide * basis.leftCols(k + 1);
    // Minimize in the norm of the preconditioner.
    const Long weighted = scale.cwiseSqrt().asDiagonal() * image;
    const Eigen::Matrix<long double, -1, 1> target = scale.cwiseSqrt().cwiseProduct(rhs);
    const Eigen::Matrix<long double, -1, 1> y = solution_by_qr(weighted, target);
    residuals.push_back(static_cast<double>((target - weighted * y).norm() / target.norm()));
  }
  return residuals;
}

template <class E>
class MinresEntries : public ::testing::Test {};
TYPED_TEST_SUITE(MinresEntries, FewOf<HermitianEntries<double>>);

constexpr const char* plans[] = {"CSR", "C=4,sigma=n,T=2,inner=soa,vector=soa", "K2rs"};

TYPED_TEST(MinresEntries, LeavesTheSmallestResidualOfTheKrylovSpace) {
  if (group_of_entry<TypeParam> != EntryGroup::complex) HEDDLE_RELEASE_ONLY();
  using E = TypeParam;
  constexpr Index n = 61;
  constexpr int steps = 12, K = vector_entry_t<E>::components;
  for (unsigned seed = 1; seed <= 3; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    const auto matrix = indefinite_matrix<E>(n, generator);
    const Eigen::MatrixXd dense = expansion<double>(matrix);
    const Field<E> b = random_vector<E>(n, generator);
    for (const bool preconditioned : {false, true}) {
      SCOPED_TRACE(preconditioned ? "preconditioned" : "");
      const auto [weights, of_scalars] = random_weights(n, K, preconditioned, 0.1, generator);
      const auto smallest = smallest_residuals(dense, of_scalars, components_of<double>(b), steps);
      for (const char* plan : plans) {
        SCOPED_TRACE(plan);
        const Operator<E> A(matrix, parse_plan(plan));
        const SolverOptions options{
            .tolerance = 1e-15, .max_iterations = steps, .record_history = true};
        Minres solver =
            preconditioned ? Minres(A, RowWeights<double>(weights), options) : Minres(A, options);
        Field<E> x(n);
        solver.solve(b, x);
        ASSERT_GE(solver.history().size(), smallest.size());
        for (std::size_t k = 0; k < smallest.size(); ++k) {
          EXPECT_NEAR(solver.history()[k] / smallest[k], 1, 1e-9) << "step " << k;
        }
      }
    }
  }
}

template <class E>
class MinresPrecisions : public ::testing::Test {};
TYPED_TEST_SUITE(MinresPrecisions, FewOf<HermitianEntries<float>>);

TYPED_TEST(MinresEntries, SolvesIndefiniteSystems) {
  using E = TypeParam;
  Generator generator(7);
  for (const Index n : {1, 2, 33, 400}) {
    SCOPED_TRACE(n);
    const auto matrix = indefinite_matrix<E>(n, generator);
    const Operator<E> A(matrix, Plan{});
    const Field<E> b = random_vector<E>(n, generator);
    Field<E> x(n);
    Minres solver(A, {.record_history = true});
    const Report report = solver.solve(b, x);
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_LE(true_residual(matrix, b, x), report.target_norm * (1 + 1e-9));
    for (std::size_t k = 1; k < solver.history().size(); ++k) {
      EXPECT_LE(solver.history()[k], solver.history()[k - 1]) << k;
    }
  }
}

TYPED_TEST(MinresPrecisions, SolveInSingle) {
  using E = TypeParam;
  Generator generator(8);
  const auto matrix = indefinite_matrix<E>(300, generator);
  const Operator<E> A(matrix, Plan{});
  const Field<E> b = random_vector<E>(300, generator);
  Field<E> x(300);
  const Report report = Minres(A).solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_LE(true_residual(matrix, b, x), report.target_norm * (1 + 1e-4));
}

TYPED_TEST(MinresEntries, TakesJacobiOfDefiniteSystems) {
  using E = TypeParam;
  Generator generator(9);
  const System<E> system = random_system<E>(300, 3, 0.02, 0, generator);
  const Operator<E> A(system.matrix, Plan{});
  const Field<E> b = random_vector<E>(300, generator);
  Field<E> x(300);
  const Report report = Minres(A, Jacobi(A)).solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_LE(true_residual(system.matrix, b, x), report.target_norm * (1 + 1e-9));
}

TEST(Minres, RefusesWhatItIsNotFor) {
  using E = complex<double>;
  Generator generator(10);
  const Field<E> b = random_vector<E>(50, generator);
  Field<E> x(50);
  const Operator<E> A(indefinite_matrix<E>(50, generator), Plan{});
  // Jacobi's diagonal is indefinite here.
  EXPECT_EQ(Minres(A, Jacobi(A)).solve(b, x).status, Status::indefinite);
  EXPECT_EQ(Minres(A, RowWeights<double>(std::vector<double>(50, -1.0))).solve(b, x).status,
            Status::indefinite);
  const Operator<E> general(general_system<E>(50, generator).matrix, Plan{});
  const Report report = Minres(general).solve(b, x);
  EXPECT_EQ(report.status, Status::not_hermitian);
  EXPECT_EQ(report.detail, "MINRES needs a Hermitian matrix: use BiCGStab");
}

/// A singular system that has a solution.
TEST(Minres, SolvesSingularConsistentSystems) {
  using E = real<double>;
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(6, 6);
  for (int i = 0; i < 5; ++i) dense(i, i) = i - 1.5;
  const Operator<E> A(from_dense(dense), Plan{});
  Field<E> b(6), x(6);
  for (int i = 0; i < 5; ++i) b.scalars()[static_cast<std::size_t>(i)] = 1 + i;
  const Report report = Minres(A).solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_EQ(x.scalars()[5], 0);
}

/// A system without a solution: x has the least residual, and does not grow along the null space.
TEST(Minres, EndsSingularInconsistentSystems) {
  constexpr int n = 200;
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(n, n);  // a string with free ends
  for (int i = 0; i + 1 < n; ++i) {
    dense.block<2, 2>(i, i) += (Eigen::Matrix2d() << 1, -1, -1, 1).finished();
  }
  const Operator<real<double>> A(from_dense(dense), Plan{});
  Generator generator(4711);
  const auto b = random_vector<real<double>>(n, generator);
  const Eigen::Map<const Eigen::VectorXd> right(b.scalars().data(), n);
  const double least = std::abs(right.mean()) * std::sqrt(double(n)) / right.norm();
  for (const int most : {250, 5000}) {
    Field<real<double>> x(n);
    const Report report = Minres(A, {.max_iterations = most}).solve(b, x);
    EXPECT_FALSE(report.converged());
    EXPECT_NEAR(report.residual, least, 1e-6 * least);
    EXPECT_LT(norm<real<double>>(x), 1e5 * norm<real<double>>(b));
    if (most == 5000) {
      EXPECT_EQ(report.status, Status::breakdown) << report;
    }
  }
}

/// A grid with free sides, whose solution is determined up to a constant in each component.
template <class E>
class MinresOfSingularGrids : public ::testing::Test {};
using GridEntries = ::testing::Types<real<float>, quaternion<float>, real<double>,
                                     quaternion<double> HEDDLE_IN_LONG_DOUBLE(, real<long double>)>;
TYPED_TEST_SUITE(MinresOfSingularGrids, GridEntries);

TYPED_TEST(MinresOfSingularGrids, EndWithTheLeastResidual) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  constexpr Index side = 24, n = side * side;
  Tiles<E> tiles(n);
  const auto couple = [&](Index i, Index j) {
    const auto unit = Eigen::MatrixXd::Identity(tiles.size, tiles.size);
    tiles.at(i, i) += unit;
    tiles.at(j, j) += unit;
    tiles.at(i, j) -= unit;
    tiles.at(j, i) -= unit;
  };
  for (Index i = 0; i < n; ++i) {
    if (i % side + 1 < side) couple(i, i + 1);
    if (i + side < n) couple(i, i + side);
  }
  const Operator<E> A(tiles.assemble(), Plan{});
  Generator generator(4712);
  const auto b = random_vector<E>(n, generator);
  const int size = E::components;
  double squared = 0;
  for (int c = 0; c < size; ++c) {
    double sum = 0;
    for (Index i = 0; i < n; ++i) {
      sum += static_cast<double>(b.scalars()[static_cast<std::size_t>(i * size + c)]);
    }
    squared += sum * sum / n;
  }
  const double least = std::sqrt(squared) / static_cast<double>(norm<E>(b));
  const auto solve = [&](auto&& solver, double more) {
    Field<E> x(n);
    const Report report = solver.solve(b, x);
    EXPECT_EQ(report.status, Status::breakdown) << report;
    EXPECT_LT(report.iterations, 500);
    EXPECT_NEAR(report.residual, least, more * least) << report;
    // Along the null space x grows until steps stop: to less than the root of 1 / epsilon.
    const double most = 1 / std::sqrt(static_cast<double>(std::numeric_limits<S>::epsilon()));
    EXPECT_LT(static_cast<double>(norm<E>(x)), most * static_cast<double>(norm<E>(b)));
  };
  solve(Minres(A), sizeof(S) == 4 ? 1e-2 : 1e-6);
  solve(Minres(A, Jacobi<E>(A)), 0.1);  // this residual is minimal in another norm
}

/// Ill-conditioned systems are not mistaken for singular ones.
TEST(Minres, SolvesIllConditionedSystemsInSingle) {
  constexpr int n = 60;
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(n, n);
  for (int i = 0; i < n; ++i) dense(i, i) = (i % 2 == 0 ? 1 : -1) * std::pow(10, -4.0 * i / n);
  const Operator<real<float>> A(from_dense<float>(dense), Plan{});
  Generator generator(4713);
  const auto b = random_vector<real<float>>(n, generator);
  Field<real<float>> x(n);
  const Report report = Minres(A).solve(b, x);
  EXPECT_TRUE(report.solved()) << report;
  EXPECT_LT(report.residual, 1e-3);
}

/// The last step doubles x along the smallest eigenvalue's vector, and solves the system.
template <class S>
void expect_solves_diagonal(std::initializer_list<double> diagonal) {
  const auto n = static_cast<Index>(diagonal.size());
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(n, n);
  std::copy(diagonal.begin(), diagonal.end(), dense.diagonal().begin());
  const Operator<real<S>> A(from_dense<S>(dense), Plan{});
  Field<real<S>> b(n), x(n);
  fill<S>(1, b.view(), b.stream());
  const Report report = Minres(A).solve(b, x);
  EXPECT_TRUE(report.solved()) << report;
  EXPECT_LT(report.residual, 1e-5);
}

TEST(Minres, SolvesRegularSystemsWithOneTinyEigenvalue) {
  expect_solves_diagonal<float>({1, 2, 1e-4});  // 1e-6 is rounding
  expect_solves_diagonal<double>({1, 2, 3, 1e-13});
}

}  // namespace
}  // namespace heddle::test::minres
