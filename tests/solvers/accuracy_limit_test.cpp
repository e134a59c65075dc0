// Solves that rounding keeps from improving: how they end, and that no other solve ends so.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "support/few_entries.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test {
namespace {

template <class S>
constexpr double epsilon = std::numeric_limits<S>::epsilon();

template <class E>
class AccuracyLimit : public ::testing::Test {};
using Entries = ::testing::Types<real<double>, complex<double>, quaternion<double>,
                                 block<double, 3, 3>, block<complex<double>, 3, 3>, real<float>,
                                 quaternion<float>, block<float, 2, 2>>;
TYPED_TEST_SUITE(AccuracyLimit, FewOf<Entries>);

/// Requests all digits: with tolerance 0, with one near the smallest double, and with one below
/// epsilon.
template <class E, template <class> class Method>
void expect_all_digits(const CsrMatrix<E>& matrix, bool jacobi) {
  using S = vector_scalar_t<E>;
  Generator generator(5);
  const Field<E> b = random_vector<E>(matrix.rows(), generator);
  const Operator<E> A(matrix, Plan{});
  for (const double tolerance : {0.0, 1e-300, 1e-3 * epsilon<S>}) {
    const SolverOptions options{.tolerance = tolerance};
    Method<S> solver = jacobi ? Method<S>(A, Jacobi<E>(A), options) : Method<S>(A, options);
    Field<E> x(matrix.rows());
    const Report report = solver.solve(b, x);
    if (report.converged() && report.residual <= tolerance) continue;  // exact, for a few rows
    EXPECT_EQ(report.status, Status::accuracy_limit) << report;
    EXPECT_TRUE(report.solved());
    EXPECT_LT(report.iterations, 1500) << report;
    EXPECT_LE(report.backward_error, 64 * epsilon<S>);
    const auto residual = static_cast<double>(true_residual(matrix, b, x));
    EXPECT_NEAR(report.residual_norm, residual, 1e-6 * residual + 1e-13 * report.baseline_norm);
    // The backward error is no smaller than the one by norms.
    const double size = expansion<double>(matrix).norm() * components_of<double>(x).norm() +
                        components_of<double>(b).norm();
    EXPECT_GE(report.backward_error * 1.1, residual / size);
  }
}

TYPED_TEST(AccuracyLimit, OfDefiniteSystems) {
  for (const Index n : {1, 3, 257}) {
    for (const bool jacobi : {false, true}) {
      SCOPED_TRACE(std::to_string(n) + (jacobi ? " rows, Jacobi" : " rows"));
      Generator generator(11);
      const auto matrix = random_system<TypeParam>(n, 3, 0.1, 0, generator).matrix;
      expect_all_digits<TypeParam, ConjugateGradient>(matrix, jacobi);
      expect_all_digits<TypeParam, BiCGStab>(matrix, jacobi);
    }
  }
}

/// A chain of alternating stiff and soft links: condition numbers of about 4 n^2 `ratio`.
CsrMatrix<real<double>> stretched_chain(Index n, double ratio) {
  Tiles<real<double>> tiles(n);
  const auto one = Eigen::MatrixXd::Ones(1, 1);
  for (Index i = 0; i < n; ++i) {
    const double stiffness = i % 2 == 0 ? ratio : 1;
    tiles.at(i, i) += stiffness * one;
    if (i == 0) continue;  // held
    tiles.at(i - 1, i - 1) += stiffness * one;
    tiles.at(i, i - 1) -= stiffness * one;
    tiles.at(i - 1, i) -= stiffness * one;
  }
  return tiles.assemble();
}

TEST(AccuracyLimitOf, AChainOfStiffAndSoftLinks) {
  for (const double ratio : {1e4, 1e6, 1e8}) {
    SCOPED_TRACE(ratio);
    const auto matrix = stretched_chain(301, ratio);
    Field<real<double>> b(301);
    fill<double>(1, b.view(), b.stream());
    const Operator<real<double>> A(matrix, Plan{});
    const auto solve = [&](double tolerance, bool checks) {
      ConjugateGradient<double> solver(A, Jacobi(A), {.tolerance = tolerance, .checks = checks});
      Field<real<double>> x(301);
      const Report report = solver.solve(b, x);
      const auto residual = static_cast<double>(true_residual(matrix, b, x));
      // Only the residual's order of magnitude is more than rounding.
      EXPECT_NEAR(report.residual_norm, residual, residual / 4);
      return report;
    };
    const Report report = solve(1e-16, true), unchecked = solve(1e-16, false);
    EXPECT_EQ(report.status, Status::accuracy_limit) << report;
    EXPECT_LE(report.backward_error, 64 * epsilon<double>);
    // The checked solve gives away little, and ends no later.
    EXPECT_LE(report.residual, 10 * unchecked.residual) << unchecked;
    EXPECT_LE(report.iterations, unchecked.iterations) << unchecked;
    // Every attainable tolerance is reached, by the same iterations.
    for (const double tolerance : {1e-2, 1e-6, 2 * report.residual}) {
      const Report with = solve(tolerance, true), without = solve(tolerance, false);
      if (!without.converged()) continue;
      EXPECT_TRUE(with.converged()) << with << "\n" << without;
      EXPECT_EQ(with.iterations, without.iterations) << tolerance;
    }
  }
}

TEST(AccuracyLimitOf, NoSolveThatMayGoOn) {
  Generator generator(2);
  const auto matrix = random_system<quaternion<double>>(300, 3, 0.01, 0, generator).matrix;
  const auto b = random_vector<quaternion<double>>(300, generator);
  const Operator<quaternion<double>> A(matrix, Plan{});
  ConjugateGradient<double> limited(A, {.tolerance = 0, .max_iterations = 20});
  Field<quaternion<double>> x(300);
  const Report report = limited.solve(b, x);
  EXPECT_EQ(report.status, Status::iteration_limit) << report;
  EXPECT_TRUE(std::isnan(report.backward_error));
  // For a caller who counts iterations, the solve goes on.
  ConjugateGradient<double> counted(A, {.tolerance = 0, .max_iterations = 500, .checks = false});
  const Report all = counted.solve(b, x);
  EXPECT_EQ(all.iterations, 500) << all;
}

TEST(AccuracyLimitOf, SumsThatAreExact) {
  // Integers: the residual becomes 0.
  const auto matrix = from_dense(Eigen::Vector3d(1, 2, 4).asDiagonal().toDenseMatrix());
  const Operator<real<double>> A(matrix, Plan{});
  for (const bool jacobi : {false, true}) {
    const SolverOptions options{.tolerance = 0};
    ConjugateGradient<double> solver = jacobi ? ConjugateGradient<double>(A, Jacobi(A), options)
                                              : ConjugateGradient<double>(A, options);
    Field<real<double>> b(3), x(3);
    fill<double>(8, b.view(), b.stream());
    const Report report = solver.solve(b, x);
    EXPECT_TRUE(report.solved()) << report;
    EXPECT_LE(report.residual, 4 * epsilon<double>);
  }
}

}  // namespace
}  // namespace heddle::test
