// LSMR: how solves end, what they refuse, user-written operators, entries known at run time.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "heddle/lsmr.hpp"
#include "heddle/operator.hpp"
#include "heddle/runtime/any_least_squares.hpp"
#include "support/entry_definitions.hpp"
#include "support/expect_error.hpp"
#include "support/systems/least_squares.hpp"
#include "support/systems/systems.hpp"

namespace lsmr_report_test {
namespace {

using namespace heddle;
using namespace heddle::test;

TEST(LeastSquaresReports, RepeatTheirBitsForAnyTeam) {
  using E = block<float, 3, 3>;
  Seed seed(7205);
  const auto matrix =
      random_matrix<E>({.rows = 2100, .columns = 700, .per_row = 5}, seed.generator);
  SystemFields<E> fields(matrix, seed.generator);
  std::vector<float> seen;
  for (const int threads : {1, 2, 5, 1}) {
    const Operator<E> A(matrix, parse_plan("Sl-32"), Device::cpu(threads));
    Lsmr solver(A, {.max_iterations = 40});
    std::fill(fields.x.begin(), fields.x.end(), 0.0F);
    solver.solve(fields.right(), fields.solution());
    if (seen.empty()) seen = fields.x;
    EXPECT_EQ(fields.x, seen);
  }
}

TEST(LeastSquaresReports, TellHowSolvesEnd) {
  using E = real<double>;
  Seed seed(7206);
  const auto matrix = random_matrix<E>({.rows = 60, .columns = 20, .per_row = 4}, seed.generator);
  const Operator<E> A(matrix, parse_plan("CSR"));
  SystemFields<E> fields(matrix, seed.generator);
  const auto solve = [&](LeastSquaresOptions options) {
    std::fill(fields.x.begin(), fields.x.end(), 0.0);
    return Lsmr(A, std::move(options)).solve(fields.right(), fields.solution());
  };
  EXPECT_EQ(solve({.tolerance = 0}).status, Status::accuracy_limit);
  EXPECT_EQ(solve({.max_iterations = 0}).status, Status::iteration_limit);
  EXPECT_EQ(solve({.time_limit = 0}).status, Status::time_limit);
  long long calls = 0;
  const auto cancelled = solve({.observer = [&](const SolveProgress& now) {
    EXPECT_EQ(now.iteration, calls);
    ++calls;
    return calls < 4;
  }});
  EXPECT_EQ(cancelled.status, Status::cancelled);
  EXPECT_EQ(cancelled.iterations, 3);
  const auto solved = solve({});
  EXPECT_TRUE(solved.converged());
  const auto again = Lsmr(A).solve(fields.right(), fields.solution());
  EXPECT_TRUE(again.converged());
  EXPECT_LE(again.iterations, 3);

  // Values far from 1, where squares would overflow.
  const std::vector<double> b = fields.b, x = fields.x;
  for (const int exponent : {-800, 900}) {
    for (std::size_t i = 0; i < b.size(); ++i) fields.b[i] = std::ldexp(b[i], exponent);
    EXPECT_TRUE(solve({}).converged()) << exponent;
    for (std::size_t i = 0; i < x.size(); ++i) {
      EXPECT_NEAR(std::ldexp(fields.x[i], -exponent), x[i], 1e-6);
    }
  }
  std::fill(fields.b.begin(), fields.b.end(), 0.0);
  fields.x[3] = 1;
  const auto zero = Lsmr(A).solve(fields.right(), fields.solution());
  EXPECT_TRUE(zero.converged());
  EXPECT_EQ(zero.iterations, 0);
  EXPECT_EQ(fields.x, std::vector<double>(20));
  fields.b[7] = std::numeric_limits<double>::quiet_NaN();
  EXPECT_EQ(solve({}).status, Status::not_finite);
}

/// The recurrence's numbers for an iteration match those computed from the x of a solve that ends
/// there.
TEST(LeastSquaresReports, HaveAHistory) {
  using E = complex<double>;
  Seed seed(7211);
  const auto matrix = random_matrix<E>({.rows = 90, .columns = 30, .per_row = 4}, seed.generator);
  const Operator<E> A(matrix, parse_plan("CSR"));
  SystemFields<E> fields(matrix, seed.generator);
  const auto start = [&] { std::fill(fields.x.begin(), fields.x.end(), 0.0); };
  for (const double damping : {0.0, 0.5}) {
    SCOPED_TRACE(damping);
    std::vector<double> seen;
    LeastSquaresOptions options{.damping = damping, .record_history = true};
    options.observer = [&](const LeastSquaresProgress& now) {
      seen.push_back(now.residual);
      return true;
    };
    Lsmr solver(A, options);
    start();
    const auto report = solver.solve(fields.right(), fields.solution());
    ASSERT_TRUE(report.converged());
    const auto [residuals, gradients] = solver.history();
    ASSERT_EQ(residuals.size(), static_cast<std::size_t>(report.iterations) + 1);
    ASSERT_EQ(gradients.size(), residuals.size());
    EXPECT_NEAR(residuals.front(), 1, 1e-14);
    EXPECT_NEAR(gradients.front(), 1, 1e-14);
    EXPECT_LE(gradients.back(), 1e-8);
    ASSERT_GE(residuals.size(), seen.size());
    EXPECT_TRUE(std::equal(seen.begin(), seen.end(), residuals.begin()));
    for (std::size_t k = 1; k < 8; ++k) {
      start();
      const auto limited =
          Lsmr(A, {.damping = damping, .max_iterations = static_cast<long long>(k)})
              .solve(fields.right(), fields.solution());
      const double whole = std::hypot(limited.residual_norm, damping * limited.solution_norm) /
                           limited.right_hand_side_norm;
      EXPECT_NEAR(residuals[k], whole, 1e-9);
      EXPECT_NEAR(gradients[k] / limited.gradient, 1, 1e-6);
    }
  }
  start();
  Lsmr without(A);
  without.solve(fields.right(), fields.solution());
  EXPECT_TRUE(without.history().residuals.empty());
}

TEST(LeastSquaresReports, KnowMatricesOfNothing) {
  using E = complex<double>;
  Seed seed(7210);
  for (const auto& [rows, columns] : {std::pair{0, 5}, {5, 0}, {5, 3}, {0, 0}}) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
    const auto matrix =
        random_matrix<E>({.rows = rows, .columns = columns, .per_row = 0}, seed.generator);
    const Operator<E> A(matrix, parse_plan("CSR"));
    SystemFields<E> fields(matrix, seed.generator);
    for (const double damping : {0.0, 1.0}) {
      const auto report = Lsmr(A, {.damping = damping}).solve(fields.right(), fields.solution());
      EXPECT_TRUE(report.converged()) << name(report.status);
      EXPECT_EQ(report.iterations, 0);
      EXPECT_NEAR(report.residual_norm, fields.dense_b().norm(), 1e-14);
    }
  }
}

/// Diagonal matrices, whose solution is b divided by the diagonal: `converged` is reported only for
/// that solution, and x and the report contain no infinity.
TEST(LeastSquaresReports, TellScalesThatLeaveTheRange) {
  using E = real<double>;
  const auto solve = [](double scale, double size) {
    SCOPED_TRACE(std::to_string(std::log10(scale)) + " " + std::to_string(std::log10(size)));
    Tiles<E> tiles(2);
    for (Index i = 0; i < 2; ++i) tiles.at(i, i)(0, 0) = (i + 1) * scale;
    const Operator<E> A(tiles.assemble(), parse_plan("CSR"));
    const std::vector<double> b{size, 2 * size};
    std::vector<double> x(2);
    const auto report = Lsmr(A).solve(b, x);
    for (const double number :
         {x[0], x[1], report.residual_norm, report.residual, report.solution_norm}) {
      EXPECT_TRUE(std::isfinite(number)) << number;
    }
    if (report.converged()) {
      for (const double number : x) EXPECT_NEAR(number / (size / scale), 1, 1e-7);
    }
    return report.status;
  };
  for (const double scale : {1e-100, 1e-10, 1.0, 1e10, 1e100}) {
    for (const double size : {1e-180, 1e-50, 1.0, 1e50, 1e180}) {
      EXPECT_EQ(solve(scale, size), Status::converged);
    }
  }
  EXPECT_EQ(solve(1e-180, 1e-200), Status::out_of_range);
  EXPECT_EQ(solve(1e-165, 1), Status::out_of_range);
  EXPECT_EQ(solve(1e-300, 1), Status::out_of_range);
  EXPECT_EQ(solve(1e170, 1), Status::out_of_range);
  EXPECT_EQ(solve(1e150, 1e-200), Status::out_of_range);
  EXPECT_EQ(solve(1e-150, 1e200), Status::out_of_range);
}

/// A^T of a matrix that only a program knows.
class Scaling final : public LinearOperator<double> {
 public:
  explicit Scaling(Index rows) : rows_(rows) {}
  Index rows() const override { return rows_; }
  void apply(double alpha, const FieldView<const double>& x, double beta,
             const FieldView<double>& y, const Stream& /*stream*/) const override {
    for (Index i = 0; i < rows_; ++i) {
      y.at(i, 0) = alpha * (i + 1) * x.at(i, 0) + (beta == 0 ? 0 : beta * y.at(i, 0));
    }
  }

 private:
  Index rows_;
};

TEST(LeastSquaresOfOnesOwnOperator, TakesItsAdjointToo) {
  const Scaling A(9);
  std::vector<double> b(9, 1.0), x(9);
  EXPECT_TRUE(Lsmr<double>(A, A).solve(b, x).converged());
  for (int i = 0; i < 9; ++i) EXPECT_NEAR(x[std::size_t(i)], 1.0 / (i + 1), 1e-7);
  expect_error(ErrorKind::unsupported,
               "this operator defines no adjoint; override LinearOperator::adjoint",
               [&] { Lsmr<double> refused(A); });
}

TEST(AnyLeastSquares, SolvesWithNewValuesOfTypesAndDefinitions) {
  using E = quaternion<double>;
  Seed seed(7208);
  const Pattern pattern = random_pattern({.rows = 50, .columns = 20}, seed.generator);
  const auto first = random_matrix_of<E>(pattern, seed.generator),
             second = random_matrix_of<E>(pattern, seed.generator);
  for (const AnyMatrix& matrix :
       {AnyMatrix(first), AnyMatrix(as_defined(first, quaternion_definition()))}) {
    AnyOperator A(matrix, parse_plan("CSR"), Device::cpu(2));
    AnyLeastSquares solver(A, {.tolerance = 1e-11});
    A.update_values<double>(second.values().span());
    SystemFields<E> fields(second, seed.generator);
    AnyField b = A.row_field(), x = A.column_field();
    for (std::size_t i = 0; i < fields.b.size(); ++i) b.set(static_cast<Offset>(i), fields.b[i]);
    EXPECT_TRUE(solver.solve(b, x).converged());
    const RealVector expected = least_squares(dense_expansion_of(second), fields.dense_b());
    for (Offset i = 0; i < expected.size(); ++i) EXPECT_NEAR(x.get(i), expected(i), 1e-7);
    EXPECT_GT(solver.memory(), A.memory().total());
  }
}

TEST(LeastSquaresMisuse, IsRefusedInOneLine) {
  using E = complex<double>;
  Seed seed(7207);
  const auto matrix = random_matrix<E>({.rows = 8, .columns = 5}, seed.generator);
  const Operator<E> A(matrix, parse_plan("CSR"));
  expect_error(ErrorKind::usage, "least squares: the damping is a finite number, 0 or more",
               [&] { Lsmr refused(A, LeastSquaresOptions{.damping = -1}); });
  expect_error(ErrorKind::usage, "least squares: the tolerance is at least 0 and below 1",
               [&] { Lsmr refused(A, LeastSquaresOptions{.tolerance = 2}); });
  expect_error(ErrorKind::size_mismatch,
               "least squares: the adjoint of an operator of 8 x 5 with 2 x 2 components has 8 x 5 "
               "with 2 x 2",
               [&] { Lsmr<double> refused(A, A); });
  SystemFields<E> fields(matrix, seed.generator);
  Lsmr solver(A);
  expect_error(ErrorKind::size_mismatch,
               "the solution has 5 rows of 2 components, its field 8 of 2", [&] {
                 std::vector<double> wrong(16);
                 solver.solve(fields.right(), FieldView<double>(wrong.data(), 8, 2));
               });
  const Operator<dual_quaternion<double>> dual(
      random_matrix<dual_quaternion<double>>({.rows = 3, .columns = 3}, seed.generator), Plan{});
  expect_error(ErrorKind::unsupported, "no adjoint: the entry has none of its kind, or is encoded",
               [&] { Lsmr refused(dual); });
}

}  // namespace
}  // namespace lsmr_report_test
