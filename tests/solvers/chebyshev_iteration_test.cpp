// Runs in both builds.
// Chebyshev's and Richardson's iterations, compared step by step with the textbook recurrence in
// long double, and with the theoretical bounds.
#include "heddle/chebyshev_iteration.hpp"
#include "base/long_double.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <string>

#include "heddle/fgmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/solver_preconditioner.hpp"
#include "support/few_entries.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::chebyshev_iteration {
namespace {

using Dense = Eigen::Matrix<long double, Eigen::Dynamic, Eigen::Dynamic>;
using Column = Vector<long double>;
using Eigenvalues = Eigen::VectorXd;

/// The expansion of a matrix, and M^-1: Jacobi's, or the identity.
struct Textbook {
  Dense A, inverse;

  template <class E>
  Textbook(const CsrMatrix<E>& matrix, bool jacobi)
      : A(expansion<long double>(matrix)), inverse(Dense::Identity(A.rows(), A.cols())) {
    constexpr int K = vector_entry_t<E>::components;
    for (Eigen::Index i = 0; jacobi && i < A.rows(); i += K) {
      inverse.block(i, i, K, K) = LuFactors<long double>(A.block(i, i, K, K)).inverse();
    }
  }

  /// Eigenvalues of M^-1 A.
  Eigenvalues eigenvalues() const {
    return eigenvalues_of(A.cast<double>(), LuFactors(inverse).inverse().cast<double>());
  }
  SpectralInterval bounds() const {
    const Eigenvalues all = eigenvalues();
    return {all.minCoeff(), all.maxCoeff()};
  }

  /// Saad 2003, algorithm 12.1: x after each step.
  std::vector<Column> chebyshev(const Column& b, Column x, const SpectralInterval& on,
                                int steps) const {
    const long double theta = (on.upper + static_cast<long double>(on.lower)) / 2,
                      delta = (on.upper - static_cast<long double>(on.lower)) / 2;
    const long double sigma = theta / delta;
    long double rho = 1 / sigma;
    Column r = b - A * x, d = inverse * r / theta;
    std::vector<Column> iterates{x};
    for (int k = 0; k < steps; ++k) {
      x += d;
      r -= A * d;
      const long double next = 1 / (2 * sigma - rho);
      d = next * rho * d + 2 * next / delta * (inverse * r);
      rho = next;
      iterates.push_back(x);
    }
    return iterates;
  }
  std::vector<Column> richardson(const Column& b, Column x, long double omega, int steps) const {
    std::vector<Column> iterates{x};
    for (int k = 0; k < steps; ++k) {
      x += omega * (inverse * (b - A * x));
      iterates.push_back(x);
    }
    return iterates;
  }
};

constexpr const char* plans[] = {"CSR", "C=4,sigma=n,T=2,inner=soa,vector=soa"};

/// A solve for each number of steps, and all residuals of the longest solve.
template <class E, class Solver, class Precondition>
void expect_steps(const CsrMatrix<E>& matrix, const Textbook& textbook,
                  const std::vector<Column>& iterates, const Field<E>& b, const Field<E>& guess,
                  SolverOptions options, const Precondition& precondition) {
  using S = vector_scalar_t<E>;
  const auto rounding = 200 * static_cast<long double>(std::numeric_limits<S>::epsilon());
  const Column right = components_of<long double>(b);
  options.tolerance = 0;
  options.checks = false;
  options.record_history = true;
  for (const char* plan : plans) {
    SCOPED_TRACE(plan);
    const Operator<E> A(matrix, parse_plan(plan));
    Solver solver(A, precondition(A), options);
    for (std::size_t steps = 0; steps < iterates.size(); ++steps) {
      SCOPED_TRACE("steps: " + std::to_string(steps));
      options.max_iterations = static_cast<long long>(steps);
      solver.set_options(options);
      Field<E> x = guess;
      const Report report = solver.solve(b, x);
      EXPECT_EQ(report.status, Status::iteration_limit) << report;
      EXPECT_EQ(report.iterations, options.max_iterations);
      const auto residual = [&](const Column& of) { return (right - textbook.A * of).norm(); };
      // A preconditioner may make the residual grow; then the guess is returned.
      const bool helps = residual(iterates[steps]) <= residual(iterates[0]);
      const Column expected = iterates[helps ? steps : 0];
      EXPECT_TRUE((components_of<long double>(x) - expected).norm() <= rounding * expected.norm())
          << static_cast<double>((components_of<long double>(x) - expected).norm() /
                                 expected.norm());
    }
    ASSERT_EQ(solver.history().size(), iterates.size());
    for (std::size_t k = 0; k < iterates.size(); ++k) {
      const long double residual = (right - textbook.A * iterates[k]).norm() / right.norm();
      EXPECT_NEAR(
          solver.history()[k], static_cast<double>(residual),
          static_cast<double>(rounding * iterates[k].norm() * textbook.A.norm() / right.norm()));
    }
  }
}

template <class E>
class ChebyshevEntries : public ::testing::Test {};
using Entries =
    ::testing::Types<real<double>, complex<double>, quaternion<double>, block<double, 3, 3>,
                     real<float>, complex<float>, quaternion<float>,
                     block<float, 3, 3> HEDDLE_IN_LONG_DOUBLE(
                         , real<long double>, complex<long double>, quaternion<long double>,
                         block<long double, 3, 3>)>;
TYPED_TEST_SUITE(ChebyshevEntries, FewOf<Entries>);

template <class E, class Solver, class Iterates>
void expect_textbook(const CsrMatrix<E>& matrix, const SolverOptions& options,
                     const Iterates& iterates_of, Generator& generator) {
  using S = vector_scalar_t<E>;
  const Field<E> b = random_vector<E>(matrix.rows(), generator);
  Field<E> guess = random_vector<E>(matrix.rows(), generator);
  const Column right = components_of<long double>(b), start = components_of<long double>(guess);
  for (const bool jacobi : {false, true}) {
    SCOPED_TRACE(jacobi ? "Jacobi" : "none");
    const Textbook textbook(matrix, jacobi);
    SolverOptions own = options;
    const auto iterates = iterates_of(textbook, right, start, own);
    const auto precondition = [&](const Operator<E>& A) -> std::shared_ptr<Preconditioner<S>> {
      return jacobi ? std::make_shared<Jacobi<E>>(A) : nullptr;
    };
    expect_steps<E, Solver>(matrix, textbook, iterates, b, guess, own, precondition);
  }
}

TYPED_TEST(ChebyshevEntries, TakesTheStepsOfTheTextbook) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Generator generator(5101);
  for (const Index n : {1, 2, 17}) {
    SCOPED_TRACE(n);
    const auto matrix = random_system<E>(n, 3, 0.3, 0, generator).matrix;
    const auto iterates = [](const Textbook& textbook, const Column& b, const Column& x,
                             SolverOptions& options) {
      // Half as wide again at both ends, also for a single point.
      options.interval = textbook.bounds();
      options.interval->lower /= 1.5;
      options.interval->upper *= 1.5;
      return textbook.chebyshev(b, x, *options.interval, 9);
    };
    expect_textbook<E, ChebyshevIteration<S>>(matrix, {}, iterates, generator);
  }
}

TYPED_TEST(ChebyshevEntries, RichardsonTakesThoseOfTheTextbook) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Generator generator(5102);
  for (const Index n : {1, 2, 17}) {
    SCOPED_TRACE(n);
    const auto with_omega = [](const Textbook& textbook, const Column& b, const Column& x,
                               SolverOptions& options) {
      options.omega = 0.7 / static_cast<double>((textbook.inverse * textbook.A).norm());
      return textbook.richardson(b, x, *options.omega, 7);
    };
    const auto with_interval = [](const Textbook& textbook, const Column& b, const Column& x,
                                  SolverOptions& options) {
      options.interval = textbook.bounds();
      options.interval->upper *= 1.5;
      const auto& [lower, upper] = *options.interval;
      return textbook.richardson(b, x, 2 / (static_cast<long double>(lower) + upper), 7);
    };
    const auto skew = random_system<E>(n, 3, 0.3, 0.6, generator).matrix;
    expect_textbook<E, Richardson<S>>(skew, {}, with_omega, generator);
    const auto matrix = random_system<E>(n, 3, 0.3, 0, generator).matrix;
    expect_textbook<E, Richardson<S>>(matrix, {}, with_interval, generator);
  }
}

/// Eigenvalues anywhere between the ends, and the two ends themselves.
CsrMatrix<real<double>> diagonal_between(const SpectralInterval& ends, Index n,
                                         Generator& generator) {
  Eigen::VectorXd values(n);
  for (double& value : values) value = uniform(generator, ends.lower, ends.upper);
  values[0] = ends.lower;
  values[n - 1] = ends.upper;
  return from_dense(values.asDiagonal());
}

TEST(ChebyshevIteration, KeepsTheBoundOfItsError) {
  using E = real<double>;
  Generator generator(5103);
  for (const SpectralInterval ends : {SpectralInterval{1, 1.5}, {0.1, 10}, {1e-3, 2}}) {
    SCOPED_TRACE(ends.upper / ends.lower);
    const auto matrix = diagonal_between(ends, 200, generator);
    const Operator<E> A(matrix, Plan{});
    const Field<E> exact = random_vector<E>(200, generator), b = image_of(matrix, exact);
    const double root = std::sqrt(ends.upper / ends.lower), c = (root + 1) / (root - 1);
    const auto error = [&](const Field<E>& x) {
      const Column e = components_of<long double>(x) - components_of<long double>(exact);
      return static_cast<double>(std::sqrt(e.dot(expansion<long double>(matrix) * e)));
    };
    SolverOptions options{.tolerance = 0, .checks = false, .interval = ends};
    ChebyshevIteration solver(A, options);
    Field<E> x(200);
    const double first = error(x);
    for (const int steps : {1, 2, 3, 5, 10, 20, 40, 80}) {
      options.max_iterations = steps;
      solver.set_options(options);
      Field<E> next(200);
      solver.solve(b, next);
      const double bound = 2 / (std::pow(c, steps) + std::pow(c, -steps));
      EXPECT_LE(error(next), (bound + 1e-14) * first) << steps;
    }
  }
}

TYPED_TEST(ChebyshevEntries, EstimatesAnIntervalAroundTheEigenvalues) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Generator generator(5104);
  constexpr double safety = 1.1, rounding = std::is_same_v<S, float> ? 1e-4 : 1e-9;
  for (const Index n : {1, 7, 60}) {
    SCOPED_TRACE(n);
    const auto matrix = random_system<E>(n, 3, 0.3, 0, generator).matrix;
    const Operator<E> A(matrix, parse_plan("pJDS"));
    const Field<E> b = random_vector<E>(n, generator);
    for (const bool jacobi : {false, true}) {
      std::shared_ptr<Preconditioner<S>> preconditioner;
      if (jacobi) preconditioner = std::make_shared<Jacobi<E>>(A);
      const auto [least, most] = Textbook(matrix, jacobi).bounds();
      ChebyshevIteration<S> solver(A, preconditioner);
      Field<E> x(n);
      const Report report = solver.solve(b, x);
      EXPECT_TRUE(report.converged()) << report;
      EXPECT_LE(static_cast<double>(true_residual(matrix, b, x)), report.target_norm * (1 + 1e-4));
      ASSERT_TRUE(report.interval);
      EXPECT_LE(report.interval->lower, least);
      EXPECT_GE(report.interval->upper, most);
      EXPECT_GE(report.interval->lower, least / safety * (1 - rounding));
      EXPECT_LE(report.interval->upper, most * safety * (1 + rounding));
      EXPECT_EQ(solver.interval()->upper, report.interval->upper);
      EXPECT_FALSE(report.omega);

      Field<E> y(n);
      const Report by_richardson = Richardson<S>(A, preconditioner).solve(b, y);
      EXPECT_TRUE(by_richardson.converged()) << by_richardson;
      ASSERT_TRUE(by_richardson.interval && by_richardson.omega);
      EXPECT_EQ(by_richardson.interval->lower, report.interval->lower);
      EXPECT_NEAR(*by_richardson.omega, 2 / (report.interval->lower + report.interval->upper),
                  1e-15 * *by_richardson.omega);
      if (n > 7) {
        EXPECT_LT(report.iterations, by_richardson.iterations);
      }
    }
  }
}

template <class E>
class RichardsonEntries : public ::testing::Test {};
TYPED_TEST_SUITE(RichardsonEntries, FewOf<AllEntries<double>>);

TYPED_TEST(RichardsonEntries, WithOmegaTakesAnyMatrix) {
  using E = TypeParam;
  Generator generator(5106);
  const auto matrix = dominant_system<E>(200, 4, 0.5, generator).matrix;
  const Field<E> b = random_vector<E>(200, generator);
  auto minus = matrix;
  for (auto& value : minus.values()) value = -value;
  for (const double sign : {1.0, -1.0}) {
    const Operator<E> A(sign > 0 ? matrix : minus, parse_plan("pJDS"));
    const double norm = static_cast<double>(Textbook(matrix, false).A.norm());
    Field<E> x(200);
    const Report report = Richardson(A, {.omega = sign * 2 / norm}).solve(b, x);
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_EQ(report.omega, sign * 2 / norm);
    EXPECT_FALSE(report.interval);
  }
  const Operator<E> A(matrix, parse_plan("pJDS"));
  Field<E> x(200);
  const Report report = Richardson(A, Jacobi(A), {.omega = 1}).solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_LE(static_cast<double>(true_residual(matrix, b, x)), report.target_norm * (1 + 1e-4));
}

TEST(ChebyshevIteration, HasTheSameBitsForAnyNumberOfThreads) {
  using E = quaternion<double>;
  Generator generator(5107);
  const auto matrix = random_system<E>(3000, 4, 0.1, 0, generator).matrix;
  const Field<E> b = random_vector<E>(3000, generator);
  std::vector<double> bits;
  for (const int threads : {1, 2, 3}) {
    const Operator<E> A(matrix, parse_plan("pJDS"), Device::cpu(threads));
    Field<E> x(3000);
    const Report report = ChebyshevIteration(A, Jacobi(A)).solve(b, x);
    EXPECT_TRUE(report.converged()) << report;
    if (bits.empty()) bits = bits_of(x);
    EXPECT_EQ(bits_of(x), bits);
  }
}

TEST(ChebyshevIteration, FollowsTheValuesOfTheMatrix) {
  using E = complex<double>;
  Generator generator(5108);
  const auto matrix = random_system<E>(90, 3, 0.2, 0, generator).matrix;
  Operator<E> A(matrix, Plan{});
  const Field<E> b = random_vector<E>(90, generator);
  ChebyshevIteration<double> solver(A);
  Field<E> x(90);
  const Report first = solver.solve(b, x);
  EXPECT_TRUE(first.converged()) << first;
  std::vector<double> values(matrix.values().begin(), matrix.values().end());
  for (double& value : values) value *= 1000;
  A.update_values(values);
  Field<E> y(90);
  const Report second = solver.solve(b, y);
  EXPECT_TRUE(second.converged()) << second;
  EXPECT_NEAR(second.interval->upper, 1000 * first.interval->upper, 1e-9 * second.interval->upper);
  EXPECT_EQ(second.iterations, first.iterations);
  // The interval is given, then estimated again.
  const SpectralInterval own{1, 1e6};
  solver.set_options({.max_iterations = 1, .interval = own});
  EXPECT_EQ(solver.solve(b, y).interval->upper, 1e6);
  solver.set_options({});
  EXPECT_EQ(solver.solve(b, x).interval->upper, second.interval->upper);
}

TEST(ChebyshevIteration, EstimatesWithANullSpace) {
  using E = quaternion<double>;
  Generator generator(5109);
  const auto [matrix, null_vector] = random_laplacian<E>(80, 3, generator);
  const Operator<E> A(matrix, Plan{});
  const Field<E> b = image_of(matrix, random_vector<E>(80, generator));
  for (const bool jacobi : {false, true}) {
    std::shared_ptr<Preconditioner<double>> preconditioner;
    if (jacobi) preconditioner = std::make_shared<Jacobi<E>>(A);
    ChebyshevIteration<double> solver(A, preconditioner);
    solver.set_null_space({null_vector.view()});
    Field<E> x(80);
    const Report report = solver.solve(b, x);
    EXPECT_TRUE(report.converged()) << report;
    // The lower end is far from 0, the eigenvalue of the null vector.
    EXPECT_GT(report.interval->lower, 1e-3 * report.interval->upper);
  }
}

TEST(ChebyshevIteration, PreconditionsAFlexibleMethod) {
  using E = real<double>;
  Generator generator(5110);
  const auto matrix = random_system<E>(400, 3, 0.02, 0, generator).matrix;
  const Operator<E> A(matrix, parse_plan("pJDS"));
  const Field<E> b = random_vector<E>(400, generator);
  Field<E> x(400), y(400);
  const Report plain = Fgmres(A, Jacobi(A)).solve(b, x);
  auto inner = std::make_shared<ChebyshevIteration<double>>(A, Jacobi(A),
                                                            SolverOptions{.max_iterations = 5});
  const Report smoothed = Fgmres(A, SolverPreconditioner<double>(inner)).solve(b, y);
  EXPECT_TRUE(plain.converged() && smoothed.converged()) << smoothed;
  EXPECT_LT(smoothed.iterations, plain.iterations / 2);
}

}  // namespace
}  // namespace heddle::test::chebyshev_iteration
