// Solves in floats, refined by residuals in double.
#include "heddle/refined_solver.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <memory>
#include <string>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"
#include "heddle/problems.hpp"
#include "support/expect_error.hpp"
#include "support/in_floats.hpp"

namespace refined_solver {
namespace {

using namespace heddle;
using namespace heddle::test;

using E = quaternion<double>;
using F = quaternion<float>;

/// The matrix in doubles and in floats, each with its own plan, and a right-hand side.
struct Refined {
  Operator<E> A;
  Operator<F> narrow_A;
  std::shared_ptr<ConjugateGradient<double>> wide;
  RefinedSolver solver;
  Field<E> b, x;

  Refined(const CsrMatrix<E>& matrix, const std::string& plan, const std::string& narrow_plan,
          const SolverOptions& options)
      : A(matrix, parse_plan(plan), Device::cpu(2)),
        narrow_A(in_floats(matrix), parse_plan(narrow_plan), Device::cpu(2)),
        wide(std::make_shared<ConjugateGradient<double>>(A, Jacobi(A), options)),
        solver(narrow_A, Jacobi(narrow_A), wide),
        b(matrix.rows()),
        x(matrix.rows()) {
    for (Index i = 0; i < b.size(); ++i) b.set(i, {{std::sin(i), 0, std::cos(i), 1}});
  }
  Report solve() { return solver.solve(b, x); }

  /// |b - A x| / |b|, in long double.
  double residual(const CsrMatrix<E>& matrix) const {
    long double off = 0, all = 0;
    for (Index row = 0; row < matrix.rows(); ++row) {
      long double r[4];
      for (int k = 0; k < 4; ++k) r[k] = b.scalars()[static_cast<std::size_t>(4 * row + k)];
      for (const long double c : r) all += c * c;
      for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
        const E entry = matrix.entry(i);
        const double* const a = entry.component;
        const double* const v = x.scalars().data() + 4 * Offset(matrix.column()[i]);
        const auto q = [&](int k) { return static_cast<long double>(v[k]); };
        r[0] -= a[0] * q(0) - a[1] * q(1) - a[2] * q(2) - a[3] * q(3);
        r[1] -= a[0] * q(1) + a[1] * q(0) + a[2] * q(3) - a[3] * q(2);
        r[2] -= a[0] * q(2) - a[1] * q(3) + a[2] * q(0) + a[3] * q(1);
        r[3] -= a[0] * q(3) + a[1] * q(2) - a[2] * q(1) + a[3] * q(0);
      }
      for (const long double c : r) off += c * c;
    }
    return static_cast<double>(std::sqrt(off / all));
  }
};

TEST(RefinedSolver, ComesToTheResidualOfDoubles) {
  const CsrMatrix<E> matrix = dirac(642);
  for (const char* const narrow : {"CSR", "C=4,sigma=64,iteration-precision=scaled"}) {
    SCOPED_TRACE(narrow);
    Refined refined(matrix, "C=8,sigma=n", narrow, {.tolerance = 1e-12});
    const Report report = refined.solve();
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_EQ(report.stored, std::string(narrow) == "CSR" ? "float" : "scaled");
    EXPECT_EQ(report.detail, "");
    EXPECT_GE(report.restarts, 4);
    EXPECT_LT(refined.residual(matrix), 1.01e-12);
    EXPECT_EQ(report.residual_norm, report.residual * report.baseline_norm);
    Refined alone(matrix, "C=8,sigma=n", "CSR", {.tolerance = 1e-12});
    const Report in_double = alone.wide->solve(alone.b, alone.x);
    EXPECT_LT(report.iterations, 13 * in_double.iterations / 10);
    EXPECT_LT(report.bytes_per_iteration, 6 * in_double.bytes_per_iteration / 10);
    const Report again = refined.solve();  // from the solution
    EXPECT_TRUE(again.converged());
    EXPECT_EQ(again.iterations, 0);
  }
}

/// A chain of springs, held by less than floats resolve.
TEST(RefinedSolver, GoesOnInDoublesWhereFloatsComeNoFurther) {
  CsrMatrix<E> matrix = dirac(162);
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      double* const entry = matrix.values().data() + 4 * i;
      const bool chain = std::abs(matrix.column()[i] - row) == 1;
      for (int k = 0; k < 4; ++k) entry[k] = 0;
      if (chain) entry[0] = -1;
    }
  }
  for (Index row = 0; row < matrix.rows(); ++row) {
    double joined = 0, *diagonal = nullptr;
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      if (matrix.column()[i] == row) diagonal = matrix.values().data() + 4 * i;
      joined -= matrix.values()[static_cast<std::size_t>(4 * i)];
    }
    *diagonal = joined + 1e-7;
  }
  Refined refined(matrix, "CSR", "CSR", {.tolerance = 1e-7});
  const Report report = refined.solve();
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_EQ(report.detail, "floats got no further, the last iterations ran in double");
  EXPECT_EQ(report.stored, "own");
  EXPECT_LT(refined.residual(matrix), 1.01e-7);
}

TEST(RefinedSolver, EndsByTheLimitsOfTheWideOne) {
  const CsrMatrix<E> matrix = dirac(642);
  Refined refined(matrix, "CSR", "CSR", {.tolerance = 1e-12, .max_iterations = 9});
  Report report = refined.solve();
  EXPECT_EQ(report.status, Status::iteration_limit);
  EXPECT_EQ(report.iterations, 9);
  EXPECT_NEAR(report.residual, refined.residual(matrix), 1e-6 * report.residual);
  int calls = 0;
  refined.wide->set_options(
      {.tolerance = 1e-12, .observer = [&](const SolveProgress&) { return ++calls < 30; }});
  report = refined.solve();
  EXPECT_EQ(report.status, Status::cancelled);
  EXPECT_EQ(calls, 30);
  EXPECT_NEAR(report.residual, refined.residual(matrix), 1e-6 * report.residual);
  refined.wide->set_options({.tolerance = 1e-3, .baseline = Baseline::initial_residual});
  const double before = report.residual;
  report = refined.solve();
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_LE(refined.residual(matrix), 1.01e-3 * before);
  refined.b.scalars()[3] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(refined.solve().status, Status::not_finite);
}

TEST(RefinedSolver, RefusesWhatIsNotTheSameMatrix) {
  const CsrMatrix<E> matrix = dirac(162);
  const Refined large(dirac(642), "CSR", "CSR", {}), small(matrix, "CSR", "CSR", {});
  expect_error(ErrorKind::size_mismatch,
               "a matrix of 162 rows of 4 floats cannot refine one of 642 rows of 4 doubles",
               [&] { RefinedSolver(small.narrow_A, Jacobi(small.narrow_A), large.wide); });
  expect_error(ErrorKind::usage, "a null pointer to a solver",
               [&] { RefinedSolver(small.narrow_A, Jacobi(small.narrow_A), nullptr); });
}

TEST(RefinedSolver, HasTheLimitsAndNumbersOfOneSolve) {
  const CsrMatrix<E> matrix = dirac(642);
  SolverOptions options{.tolerance = 1e-10, .time_limit = 0};
  Refined stopped(matrix, "CSR", "CSR", options);
  const Report none = stopped.solve();
  EXPECT_EQ(none.status, Status::time_limit);
  EXPECT_LE(none.iterations, 1);  // the clock is checked after each iteration
  options.time_limit = std::numeric_limits<double>::infinity();
  options.baseline = Baseline::initial_residual;
  long long last = 0;
  double residual = 1;
  options.observer = [&](const SolveProgress& progress) {
    EXPECT_GE(progress.iteration, last);
    last = progress.iteration;
    residual = progress.relative_residual;
    return true;
  };
  Refined refined(matrix, "CSR", "CSR", options);
  const double first = refined.solver.solve(refined.b, refined.x).baseline_norm;
  EXPECT_LE(residual, 1e-8);
  refined.b.set(0, {{2, 0, 1, 1}});  // a good guess: the baseline is its residual
  last = 0;
  const Report again = refined.solve();
  EXPECT_TRUE(again.converged()) << again;
  EXPECT_LT(again.baseline_norm, 0.5 * first);
  EXPECT_DOUBLE_EQ(again.residual, again.residual_norm / again.baseline_norm);
  EXPECT_LE(again.residual, 1e-10);
}

}  // namespace
}  // namespace refined_solver
