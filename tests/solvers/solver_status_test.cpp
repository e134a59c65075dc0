// Runs in the release.
// How solves end, case by case; and that none ends "converged" falsely.
#include <gtest/gtest.h>

#include <limits>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/few_entries.hpp"
#include "support/row_weights.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test {
namespace {

using R = real<double>;
constexpr double infinity = std::numeric_limits<double>::infinity();
constexpr double nan = std::numeric_limits<double>::quiet_NaN();

struct Outcome {
  Report report;
  std::vector<double> x;
};

template <template <class> class Solver, class E = R>
Outcome solve(const CsrMatrix<E>& matrix, const Field<E>& b, SolverOptions options = {},
              const Field<E>* guess = nullptr) {
  const Operator<E> A(matrix, Plan{});
  Field<E> x(matrix.rows());
  if (guess != nullptr) x = *guess;
  Solver<vector_scalar_t<E>> solver(A, std::move(options));
  const Report report = solver.solve(b, x);
  const auto bits = bits_of(x);
  return {report, {bits.begin(), bits.end()}};
}

Field<R> field_of(const std::vector<double>& values) {
  Field<R> field(static_cast<Index>(values.size()));
  std::copy(values.begin(), values.end(), field.scalars().begin());
  return field;
}
Eigen::MatrixXd diagonal(const std::vector<double>& values) {
  return Eigen::Map<const Eigen::VectorXd>(values.data(), static_cast<Index>(values.size()))
      .asDiagonal();
}

template <class E>
class DiagonalSystems : public ::testing::Test {};
TYPED_TEST_SUITE(DiagonalSystems, FewOf<AllEntries<double>>);

TYPED_TEST(DiagonalSystems, ConvergeByTheHalfStep) {
  using E = TypeParam;
  for (const Index n : {1, 2, 300}) {
    for (const double value : {1.0, -3.0, 0.125}) {
      Generator generator(static_cast<unsigned>(n));
      Tiles<E> tiles(n);
      for (Index i = 0; i < n; ++i) {
        tiles.at(i, i) = value * Eigen::MatrixXd::Identity(tiles.size, tiles.size);
      }
      const Field<E> b = random_vector<E>(n, generator);
      const auto matrix = tiles.assemble();
      const Outcome outcome = solve<BiCGStab, E>(matrix, b);
      ASSERT_TRUE(outcome.report.converged()) << outcome.report;
      EXPECT_EQ(outcome.report.iterations, 1);
      for (std::size_t i = 0; i < outcome.x.size(); ++i) {
        EXPECT_TRUE(std::abs(outcome.x[i] - b.scalars()[i] / value) <= 1e-10);
      }
    }
    // After Jacobi, any diagonal is the identity.
    Generator generator(7);
    Tiles<E> tiles(n);
    for (Index i = 0; i < n; ++i) {
      tiles.at(i, i) =
          2 * Eigen::MatrixXd::Identity(tiles.size, tiles.size) + random_tile<E>(generator, 0.5);
    }
    const auto matrix = tiles.assemble();
    const Field<E> b = random_vector<E>(n, generator);
    const Operator<E> A(matrix, Plan{});
    Field<E> x(n);
    BiCGStab solver(A, Jacobi(A));
    const Report report = solver.solve(b, x);
    ASSERT_TRUE(report.converged()) << report;
    EXPECT_EQ(report.iterations, 1);
    EXPECT_TRUE(true_residual(matrix, b, x) <= 1e-10 * components_of<double>(b).norm());
  }
}

TEST(SolverStatus, DistinctDiagonalsConverge) {
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    std::vector<double> values(seed);
    for (double& value : values) value = uniform(generator, 1, 10);
    const auto matrix = from_dense(diagonal(values));
    const auto b = random_vector<R>(static_cast<Index>(seed), generator);
    for (const Outcome& outcome :
         {solve<ConjugateGradient>(matrix, b), solve<BiCGStab>(matrix, b)}) {
      EXPECT_TRUE(outcome.report.converged()) << outcome.report;
    }
  }
}

TEST(SolverStatus, ZeroRightHandSideIsSolvedByZero) {
  const auto matrix = from_dense(diagonal({1, 2, 3}));
  const auto b = field_of({0, 0, 0});
  for (const double guess : {0.0, 5.0, nan}) {
    const auto x0 = field_of({guess, 1, 2});
    for (const Outcome& outcome :
         {solve<ConjugateGradient>(matrix, b, {}, &x0), solve<BiCGStab>(matrix, b, {}, &x0)}) {
      EXPECT_TRUE(outcome.report.converged()) << outcome.report;
      EXPECT_EQ(outcome.report.iterations, 0);
      EXPECT_EQ(outcome.report.residual, 0);
      EXPECT_EQ(outcome.x, std::vector<double>(3));
    }
  }
}

TEST(SolverStatus, AnExactGuessTakesNoIteration) {
  Eigen::MatrixXd integers(3, 3);
  integers << 4, 1, 0, 1, 5, 2, 0, 2, 6;
  const auto matrix = from_dense(integers);
  const auto x0 = field_of({3, -1, 2});
  const auto b = image_of(matrix, x0);
  for (const Baseline baseline : {Baseline::right_hand_side, Baseline::initial_residual}) {
    const SolverOptions options{.tolerance = 0, .baseline = baseline};
    for (const Outcome& outcome : {solve<ConjugateGradient>(matrix, b, options, &x0),
                                   solve<BiCGStab>(matrix, b, options, &x0)}) {
      EXPECT_TRUE(outcome.report.converged()) << outcome.report;
      EXPECT_EQ(outcome.report.iterations, 0);
      EXPECT_EQ(outcome.x, bits_of(x0));
    }
  }
}

/// A system that takes about thirty iterations.
struct Lengthy {
  CsrMatrix<R> matrix;
  Field<R> b;
  Lengthy() {
    Generator generator(1);
    matrix = random_system<R>(400, 3, 0.01, 0, generator).matrix;
    b = random_vector<R>(400, generator);
  }
};

template <template <class> class Solver>
void expect_limits() {
  const Lengthy system;
  const auto check = [&](const Outcome& outcome, Status status, long long iterations) {
    EXPECT_EQ(outcome.report.status, status) << outcome.report;
    EXPECT_EQ(outcome.report.iterations, iterations);
    const auto residual =
        static_cast<double>(true_residual(system.matrix, system.b, field_of(outcome.x)));
    EXPECT_TRUE(std::abs(outcome.report.residual_norm - residual) <= 1e-9 * residual);
    EXPECT_TRUE(std::abs(outcome.report.residual * outcome.report.baseline_norm - residual) <=
                1e-9 * residual);
  };
  for (const long long limit : {0, 1, 5}) {
    const auto outcome = solve<Solver>(system.matrix, system.b, {.max_iterations = limit});
    check(outcome, Status::iteration_limit, limit);
  }
  check(solve<Solver>(system.matrix, system.b, {.time_limit = 0}), Status::time_limit, 1);
  long long calls = 0;
  const auto observer = [&](const SolveProgress& progress) {
    EXPECT_EQ(progress.iteration, ++calls);
    EXPECT_TRUE(progress.relative_residual > 0 && progress.seconds >= 0);
    return progress.iteration < 4;
  };
  check(solve<Solver>(system.matrix, system.b, {.observer = observer}), Status::cancelled, 4);
  EXPECT_EQ(calls, 4);
}
TEST(SolverStatus, LimitsOfConjugateGradient) { expect_limits<ConjugateGradient>(); }
TEST(SolverStatus, LimitsOfBiCGStab) { expect_limits<BiCGStab>(); }

TEST(SolverStatus, ANegativeEigenvalueIsIndefinite) {
  for (unsigned seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    Eigen::MatrixXd G = random_dense(20, generator);
    const Eigen::MatrixXd Q = orthogonal_factor(G);
    Eigen::VectorXd values(20);
    for (double& value : values) value = uniform(generator, 1, 5);
    values[3] = -0.5;
    Eigen::MatrixXd A = Q * values.asDiagonal() * Q.transpose();
    A = (A + A.transpose()).eval() / 2;
    const auto outcome = solve<ConjugateGradient>(from_dense(A), random_vector<R>(20, generator));
    EXPECT_EQ(outcome.report.status, Status::indefinite) << outcome.report;
    EXPECT_FALSE(outcome.report.detail.empty());
  }
  const auto negative = solve<ConjugateGradient>(from_dense(diagonal({-1, -1})), field_of({1, 1}));
  EXPECT_EQ(negative.report.status, Status::indefinite);
  EXPECT_EQ(negative.report.iterations, 0);
}

TEST(SolverStatus, ANegativePreconditionerIsIndefinite) {
  const Lengthy system;
  const Operator<R> A(system.matrix, Plan{});
  Field<R> x(400);
  ConjugateGradient cg(A, RowWeights<double>(std::vector<double>(400, -1)));
  const Report report = cg.solve(system.b, x);
  EXPECT_EQ(report.status, Status::indefinite) << report;
  EXPECT_NE(report.detail.find("preconditioner"), std::string_view::npos);
  std::vector<double> mixed(400, 1);
  for (std::size_t i = 0; i < 400; i += 3) mixed[i] = -1;
  ConjugateGradient with_mixed(A, RowWeights<double>(mixed));
  EXPECT_EQ(with_mixed.solve(system.b, x).status, Status::indefinite);
}

TEST(SolverStatus, SkewSymmetricMatricesBreakBiCGStabDown) {
  Eigen::MatrixXd turn(2, 2);
  turn << 0, 1, -1, 0;
  const auto exact = solve<BiCGStab>(from_dense(turn), field_of({1, 2}));
  EXPECT_EQ(exact.report.status, Status::breakdown) << exact.report;
  EXPECT_EQ(exact.x, std::vector<double>(2)) << "nothing is better than the guess";
  for (unsigned seed = 1; seed <= 30; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    Eigen::MatrixXd G = random_dense(24, generator);
    const auto b = random_vector<R>(24, generator);
    const auto matrix = from_dense(G - G.transpose());
    const auto outcome = solve<BiCGStab>(matrix, b, {.max_iterations = 1000});
    // <r, A r> = 0 except for rounding: the result is chance, but never worse than the guess.
    EXPECT_TRUE(true_residual(matrix, b, field_of(outcome.x)) <=
                components_of<double>(b).norm() * (1 + 1e-12));
  }
}

TEST(SolverStatus, ToleranceBelowAttainableAccuracyEndsAtItsLimit) {
  Eigen::MatrixXd hilbert(10, 10);
  for (Index i = 0; i < 10; ++i) {
    for (Index j = 0; j < 10; ++j) hilbert(i, j) = 1.0 / (i + j + 1);
  }
  const auto matrix = from_dense(hilbert);
  Generator generator(3);
  for (int trial = 0; trial < 10; ++trial) {
    const auto b = random_vector<R>(10, generator);
    const Outcome definite = solve<ConjugateGradient>(matrix, b, {.tolerance = 1e-17});
    EXPECT_EQ(definite.report.status, Status::accuracy_limit) << definite.report;
    // BiCGStab's residuals jump, and may leave it further away.
    const Outcome other = solve<BiCGStab>(matrix, b, {.tolerance = 1e-17});
    EXPECT_TRUE(other.report.status == Status::accuracy_limit ||
                other.report.status == Status::stagnated)
        << other.report;
  }
}

TEST(SolverStatus, WhatIsNotFiniteIsSaid) {
  const Lengthy system;
  const auto expect = [](const Outcome& outcome) {
    EXPECT_EQ(outcome.report.status, Status::not_finite) << outcome.report;
    EXPECT_FALSE(outcome.report.residual <= 1);
  };
  for (const double bad : {nan, infinity, -infinity}) {
    for (const std::size_t where : {0, 399}) {
      Field<R> b = system.b;
      b.scalars()[where] = bad;
      expect(solve<ConjugateGradient>(system.matrix, b));
      expect(solve<BiCGStab>(system.matrix, b));
      Field<R> guess(400);
      guess.scalars()[where] = bad;
      expect(solve<ConjugateGradient>(system.matrix, system.b, {}, &guess));
      expect(solve<BiCGStab>(system.matrix, system.b, {}, &guess));
    }
    CsrMatrix<R> matrix = system.matrix;
    matrix.values()[17] = bad;
    expect(solve<ConjugateGradient>(matrix, system.b));
    expect(solve<BiCGStab>(matrix, system.b));
  }
}

// Singular systems.

template <class S, template <class> class Solver>
void expect_singular_but_consistent(double tolerance) {
  using E = real<S>;
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    const Index n = 2 + static_cast<Index>(seed * 7);
    const auto [matrix, null_vector] = random_laplacian<E>(n, 2, generator);
    const auto b = image_of(matrix, random_vector<E>(n, generator));
    const auto outcome = solve<Solver, E>(matrix, b, {.tolerance = tolerance});
    EXPECT_TRUE(outcome.report.converged()) << outcome.report;
  }
}
TEST(SolverStatus, SingularButConsistentConverges) {
  expect_singular_but_consistent<double, ConjugateGradient>(1e-10);
  expect_singular_but_consistent<double, BiCGStab>(1e-8);
  expect_singular_but_consistent<float, ConjugateGradient>(1e-5);
}

TEST(SolverStatus, InconsistentIsNeitherConvergedNorIndefinite) {
  for (unsigned seed = 1; seed <= 60; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    const Index n = 2 + static_cast<Index>(seed * 7);
    const auto [matrix, null_vector] = random_laplacian<R>(n, 2, generator);
    auto b = image_of(matrix, random_vector<R>(n, generator));
    const double share = seed % 3 == 0 ? 1e-3 : 1;
    for (Index i = 0; i < n; ++i) b.view().at(i, 0) += share * null_vector.view().at(i, 0);
    if (seed % 3 == 1) b = null_vector;
    for (const Outcome& outcome : {solve<ConjugateGradient>(matrix, b, {.max_iterations = 2000}),
                                   solve<BiCGStab>(matrix, b, {.max_iterations = 2000})}) {
      EXPECT_NE(outcome.report.status, Status::converged);
      EXPECT_NE(outcome.report.status, Status::indefinite);
      EXPECT_TRUE(true_residual(matrix, b, field_of(outcome.x)) <=
                  components_of<double>(b).norm() * (1 + 1e-12))
          << outcome.report;
    }
  }
}

/// The meaning of `converged`, judged in long double: the residual that a solver computes in double
/// is off by the rounding of its sums.
template <class E>
void expect_honest(const Outcome& outcome, const CsrMatrix<E>& matrix, const Field<E>& b,
                   double tolerance) {
  Field<E> x(matrix.rows());
  std::transform(outcome.x.begin(), outcome.x.end(), x.scalars().begin(),
                 [](double v) { return static_cast<vector_scalar_t<E>>(v); });
  const auto A = expansion<long double>(matrix);
  const auto rhs = components_of<long double>(b), solution = components_of<long double>(x);
  const long double residual = (rhs - A * solution).norm();
  const long double terms = (A.cwiseAbs() * solution.cwiseAbs() + rhs.cwiseAbs()).norm();
  const long double rounding = 64 * std::numeric_limits<double>::epsilon() * terms;
  if (outcome.report.converged()) {
    EXPECT_TRUE(residual <= tolerance * rhs.norm() + rounding)
        << outcome.report << ", but the residual is " << residual / rhs.norm();
  }
  EXPECT_TRUE(std::abs(outcome.report.residual_norm - residual) <= rounding + 1e-6 * residual)
      << outcome.report << ", but the residual is " << residual;
}

TEST(SolverStatus, ConvergenceIsNeverClaimedFalsely) {
  int converged = 0, others = 0;
  for (unsigned seed = 1; seed <= 400; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    const auto n = static_cast<Index>(1 + generator() % 40);
    // Singular values spread over up to 1e16; the matrix is general, symmetric or definite.
    const Eigen::MatrixXd U = orthogonal_factor(random_dense(n, generator));
    const Eigen::MatrixXd V = orthogonal_factor(random_dense(n, generator));
    const double spread = uniform(generator, 0, 16);
    Eigen::VectorXd values(n);
    for (double& value : values) value = std::pow(10, -uniform(generator, 0, spread));
    if (seed % 5 == 0) values[0] = 0;
    if (seed % 7 == 0) values = values.cwiseProduct(U.col(0).cwiseSign());
    const Eigen::MatrixXd dense = U * values.asDiagonal() * (seed % 2 == 0 ? U : V).transpose();
    const double tolerance = std::pow(10, -uniform(generator, 1, 17));
    const auto run = [&]<class S>(S) {
      const auto matrix = from_dense<S>(dense);
      const auto b = random_vector<real<S>>(n, generator, std::pow(10, uniform(generator, -5, 5)));
      const SolverOptions options{.tolerance = tolerance, .max_iterations = 300};
      for (const Outcome& outcome : {solve<ConjugateGradient, real<S>>(matrix, b, options),
                                     solve<BiCGStab, real<S>>(matrix, b, options)}) {
        expect_honest(outcome, matrix, b, tolerance);
        ++(outcome.report.converged() ? converged : others);
      }
    };
    run(double());
    run(float());
  }
  EXPECT_GT(converged, 100);
  EXPECT_GT(others, 100);
}

}  // namespace
}  // namespace heddle::test
