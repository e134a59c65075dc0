// LSMR against dense least squares by Eigen, over every kind of entry.
#include "heddle/lsmr.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <limits>
#include <random>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/expansion.hpp"
#include "heddle/operator.hpp"
#include "heddle/operator_algebra.hpp"
#include "heddle/runtime/any_least_squares.hpp"
#include "support/entry_definitions.hpp"
#include "support/expect_error.hpp"
#include "support/random_matrix.hpp"

namespace lsmr_test {
namespace {

using namespace heddle;
using namespace heddle::test;
using Matrix = Eigen::MatrixXd;
using Vector = Eigen::VectorXd;

/// The real expansion.
template <class E>
Matrix dense_of(const CsrMatrix<E>& matrix) {
  const auto expanded = expand(matrix);
  Matrix dense = Matrix::Zero(expanded.rows(), expanded.columns());
  for (Index row = 0; row < expanded.rows(); ++row) {
    for (Offset i = expanded.offsets()[static_cast<std::size_t>(row)];
         i < expanded.offsets()[static_cast<std::size_t>(row) + 1]; ++i) {
      dense(row, expanded.column()[static_cast<std::size_t>(i)]) +=
          static_cast<double>(expanded.values()[static_cast<std::size_t>(i)]);
    }
  }
  return dense;
}

/// b and x in the user's order.
template <class E>
struct Fields {
  using S = vector_scalar_t<E>;
  std::vector<S> b, x;
  Index rows, columns;

  Fields(const CsrMatrix<E>& matrix, Generator& generator)
      : rows(matrix.rows()), columns(matrix.columns()) {
    b.resize(static_cast<std::size_t>(rows) * result_entry_t<E>::components);
    x.resize(static_cast<std::size_t>(columns) * vector_entry_t<E>::components);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (S& value : b) value = static_cast<S>(uniform(generator));
  }
  FieldView<const S> right() const { return {b.data(), rows, result_entry_t<E>::components}; }
  FieldView<S> solution() { return {x.data(), columns, vector_entry_t<E>::components}; }
  Vector dense_b() const {
    return Eigen::Map<const Eigen::Matrix<S, -1, 1>>(b.data(), std::ssize(b))
        .template cast<double>();
  }
  Vector dense_x() const {
    return Eigen::Map<const Eigen::Matrix<S, -1, 1>>(x.data(), std::ssize(x))
        .template cast<double>();
  }
};

/// The x of least norm.
Vector least_squares(const Matrix& A, const Vector& b, double damping = 0) {
  Matrix whole(A.rows() + A.cols(), A.cols());
  whole << A, Matrix::Identity(A.cols(), A.cols()) * damping;
  Vector right = Vector::Zero(whole.rows());
  right.head(A.rows()) = b;
  return whole.completeOrthogonalDecomposition().solve(right);
}

/// The report tells the truth about the x that was returned.
template <class S>
void expect_true(const LeastSquaresReport& report, const Matrix& A, const Vector& b,
                 const Vector& x, double damping) {
  const double slack = 1e3 * static_cast<double>(std::numeric_limits<S>::epsilon());
  const Vector r = b - A * x, gradient = A.transpose() * r - damping * damping * x;
  EXPECT_NEAR(report.residual_norm, r.norm(), slack * b.norm());
  EXPECT_NEAR(report.gradient_norm, gradient.norm(), slack * A.norm() * b.norm());
  EXPECT_NEAR(report.solution_norm, x.norm(), slack * x.norm());
  const double largest = std::hypot(A.jacobiSvd().singularValues()(0), damping);
  EXPECT_LE(report.matrix_norm, (1 + slack) * largest);
  EXPECT_GE(report.matrix_norm, report.iterations > 0 ? 0.3 * largest : 0.0);
}

template <class E>
class LeastSquares : public testing::Test {};
using Entries =
    testing::Types<real<double>, real<float>, complex<double>, complex<float>, quaternion<double>,
                   quaternion<float>, block<double, 3, 3>, block<complex<double>, 3, 3>,
                   block<double, 2, 3>, block<double, 2, 9>, stored_as<float, quaternion<double>>>;
TYPED_TEST_SUITE(LeastSquares, Entries);

TYPED_TEST(LeastSquares, SolveWhatEigenSolves) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(7201);
  const PatternRequest shapes[] = {
      {.name = "tall", .rows = 70, .columns = 11, .per_row = 3, .empty_rows = true},
      {.name = "wide", .rows = 12, .columns = 60, .per_row = 9, .sorted = false},
      {.name = "square", .rows = 25, .columns = 25, .per_row = 8, .diagonal = true},
  };
  constexpr bool is_single = std::is_same_v<S, float>;
  for (const PatternRequest& shape : shapes) {
    for (const double damping : {0.0, 0.6}) {
      for (const char* plan : {"CSR", "Sl-32,vector=soa,inner=soa", "K1,use=scatter"}) {
        SCOPED_TRACE(std::string(shape.name) + ", damping " + std::to_string(damping) + ", " +
                     plan);
        const CsrMatrix<E> matrix = random_matrix<E>(shape, seed.generator);
        const Operator<E> A(matrix, parse_plan(plan), Device::cpu(2));
        Fields<E> fields(matrix, seed.generator);
        Lsmr solver(A, {.damping = damping, .tolerance = is_single ? 1e-6 : 1e-12});
        const LeastSquaresReport report = solver.solve(fields.right(), fields.solution());
        EXPECT_TRUE(report.solved()) << name(report.status) << " " << report.detail;
        const Matrix dense = dense_of(matrix);
        const Vector b = fields.dense_b(), x = fields.dense_x();
        expect_true<S>(report, dense, b, x, damping);
        const Vector expected = least_squares(dense, b, damping);
        const auto values = dense.jacobiSvd().singularValues();
        const double rank = 1e-9 * values(0);
        double least = values(0);
        for (const double value : values) {
          if (value > rank) least = std::min(least, value);
        }
        least = std::hypot(least, damping);
        // |A* r| = tolerance |A| |r| moves x by as much over the square of the least value.
        const double condition = values(0) / least;
        EXPECT_LE((x - expected).norm(), (is_single ? 1e-5 : 1e-11) * condition * condition *
                                             (expected.norm() + b.norm()));
      }
    }
  }
}

/// x_k minimizes |A* (b - A x)| over x_0 + span of (A* A)^j A* r_0, j < k: what LSMR is.
TEST(LeastSquaresIterates, AreThoseThatMinimizeTheGradient) {
  using E = quaternion<double>;
  Seed seed(7202);
  const CsrMatrix<E> matrix =
      random_matrix<E>({.rows = 40, .columns = 15, .per_row = 4}, seed.generator);
  const Operator<E> A(matrix, parse_plan("CSR"));
  const Matrix dense = dense_of(matrix);
  for (const double damping : {0.0, 0.8}) {
    for (const bool guesses : {false, true}) {
      Fields<E> fields(matrix, seed.generator);
      std::vector<double> guess(fields.x.size());
      for (double& value : guess) {
        value = guesses ? random_components<real<double>>(seed.generator).component[0] : 0.0;
      }
      fields.x = guess;
      const Vector first = fields.dense_x();
      const Matrix normal = dense.transpose() * dense +
                            damping * damping * Matrix::Identity(dense.cols(), dense.cols());
      const Vector start = dense.transpose() * fields.dense_b() - normal * first;
      Matrix basis(dense.cols(), 0);
      for (int k = 1; k <= 8; ++k) {
        Vector next = k == 1 ? start : Vector(normal * basis.col(k - 2));
        for (int pass = 0; pass < 2; ++pass) next -= basis * (basis.transpose() * next);
        basis.conservativeResize(Eigen::NoChange, k);
        basis.col(k - 1) = next.normalized();
        const Matrix image = normal * basis;
        const Vector expected = first + basis * image.colPivHouseholderQr().solve(start);
        fields.x = guess;
        Lsmr solver(A, {.damping = damping, .tolerance = 0, .max_iterations = k});
        const auto report = solver.solve(fields.right(), fields.solution());
        EXPECT_EQ(report.status, Status::iteration_limit);
        EXPECT_EQ(report.iterations, k);
        EXPECT_LE((fields.dense_x() - expected).norm(), 1e-11 * expected.norm()) << k;
        expect_true<double>(report, dense, fields.dense_b(), fields.dense_x(), damping);
      }
    }
  }
}

/// The matrix of scipy's runs: tridiagonal columns, so that a line makes it.
CsrMatrix<real<double>> difference_matrix(Index columns) {
  Pattern pattern{columns + 1, columns, {0}, {}};
  std::vector<real<double>> entries;
  for (Index row = 0; row <= columns; ++row) {
    for (const Index column : {row - 1, row}) {
      if (column < 0 || column >= columns) continue;
      pattern.column.push_back(column);
      entries.push_back({{column == row ? 1.0 + 0.01 * row : -1.0 + 0.02 * (row % 7)}});
    }
    pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
  }
  return matrix_of(pattern, entries);
}

TEST(LeastSquaresIterations, AreThoseOfScipy) {
  const CsrMatrix<real<double>> matrix = difference_matrix(300);
  const Operator<real<double>> A(matrix, parse_plan("CSR"));
  struct Case {
    bool is_compatible;
    double damping;
    long long iterations;
    double residual, gradient, solution;  // norms after 20 iterations; the residual counts d x
  };
  // scipy.sparse.linalg.lsmr of scipy 1.17.1, atol = btol = 1e-8, conlim = 0.
  const Case cases[] = {
      {false, 0, 122, 10.44572649483361, 2.5063293759117116, 54.01439831207542},
      {false, 0.5, 67, 24.42408681566319, 0.44154169966610474, 35.2084896176062},
      {true, 0, 110, 0.9435886195063752, 0.3095089687269241, 16.33743744719869},
  };
  for (const Case& expected : cases) {
    std::vector<double> b(301), x(300, 1.0);
    if (expected.is_compatible) {
      A.apply(1, FieldView<const double>(x.data(), 300), 0, FieldView<double>(b.data(), 301),
              Device::cpu().stream());
    } else {
      for (std::size_t i = 0; i < b.size(); ++i) b[i] = 1.0 + static_cast<double>(i % 5);
    }
    const auto solve = [&](LeastSquaresOptions options) {
      std::fill(x.begin(), x.end(), 0.0);
      options.damping = expected.damping;
      return Lsmr(A, std::move(options)).solve(b, x);
    };
    const auto same = solve({.tolerance = 0, .max_iterations = 20});
    EXPECT_NEAR(std::hypot(same.residual_norm, expected.damping * same.solution_norm),
                expected.residual, 1e-11 * expected.residual);
    EXPECT_NEAR(same.gradient_norm, expected.gradient, 1e-11 * expected.gradient);
    EXPECT_NEAR(same.solution_norm, expected.solution, 1e-11 * expected.solution);
    // Scipy's |A| grows with the iterations, and so its tolerance does.
    const auto solved = solve({.tolerance = 1e-8});
    EXPECT_TRUE(solved.converged());
    EXPECT_GE(solved.iterations, expected.iterations);
    EXPECT_LE(solved.iterations, expected.iterations * 5 / 4);
  }
}

TEST(LeastSquaresOfASingularMatrix, HasTheLeastNorm) {
  using E = complex<double>;
  Seed seed(7203);
  // Twice the same columns.
  const Pattern half = random_pattern({.rows = 40, .columns = 10, .per_row = 3}, seed.generator);
  const auto left = random_matrix_of<E>(half, seed.generator);
  Pattern pattern{40, 20, {0}, {}};
  std::vector<E> entries;
  for (Index row = 0; row < 40; ++row) {
    for (const Index shift : {0, 10}) {
      for (Offset i = half.offsets[std::size_t(row)]; i < half.offsets[std::size_t(row) + 1]; ++i) {
        pattern.column.push_back(half.column[static_cast<std::size_t>(i)] + shift);
        entries.push_back(left.entry(i));
      }
    }
    pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
  }
  const auto matrix = matrix_of(pattern, entries);
  const Operator<E> A(matrix, parse_plan("CSR"));
  Fields<E> fields(matrix, seed.generator);
  const auto report = Lsmr(A, {.tolerance = 1e-12}).solve(fields.right(), fields.solution());
  EXPECT_TRUE(report.converged()) << name(report.status);
  const Vector expected = least_squares(dense_of(matrix), fields.dense_b());
  EXPECT_LE((fields.dense_x() - expected).norm(), 1e-9 * expected.norm());
  EXPECT_GT(report.residual_norm, 0.1);  // inconsistent
}

/// Cameras of nine parameters and points of three, each observation a row of both: blocks of 2 x 3
/// numbers, three columns of them a camera.
TEST(LeastSquaresOfBundles, FollowNewValuesAndScaledColumns) {
  using E = block<double, 2, 3>;
  Seed seed(7204);
  constexpr Index cameras = 6, points = 40;
  Pattern pattern{cameras * points / 2, 3 * cameras + points, {0}, {}};
  for (Index point = 0; point < points; ++point) {
    for (Index k = 0; k < cameras / 2; ++k) {
      const Index camera = (point + k) % cameras;
      for (const Index part : {0, 1, 2}) pattern.column.push_back(3 * camera + part);
      pattern.column.push_back(3 * cameras + point);
      pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
    }
  }
  const auto values = [&] {
    auto matrix = random_matrix_of<E>(pattern, seed.generator);
    for (Offset i = 0; i < matrix.entries(); ++i) {
      // Columns of very different size, as of focal lengths and translations.
      const double scale = matrix.column()[static_cast<std::size_t>(i)] % 3 == 0 ? 100 : 1;
      for (int k = 0; k < E::components; ++k) {
        matrix.values()[static_cast<std::size_t>(i) * E::components + std::size_t(k)] *= scale;
      }
    }
    return matrix;
  };
  const auto first = values(), second = values();
  Operator<E> A(first, parse_plan("CSR"), Device::cpu(2));
  Lsmr solver(A, {.damping = 0.1, .tolerance = 1e-11});
  for (const auto* const matrix : {&first, &second}) {
    A.update_values(*matrix);
    Fields<E> fields(*matrix, seed.generator);
    const auto report = solver.solve(fields.right(), fields.solution());
    EXPECT_TRUE(report.converged()) << name(report.status);
    const Vector expected = least_squares(dense_of(*matrix), fields.dense_b(), 0.1);
    EXPECT_LE((fields.dense_x() - expected).norm(), 1e-7 * expected.norm());
  }

  // The same without damping by A D y, x = D y.
  using D = real<double, 3>;
  Pattern diagonal{second.columns(), second.columns(), {0}, {}};
  std::vector<D> scales;
  const Matrix dense = dense_of(second);
  for (Index column = 0; column < second.columns(); ++column) {
    diagonal.column.push_back(column);
    diagonal.offsets.push_back(column + 1);
    scales.push_back({{1 / dense.middleCols(Eigen::Index(3) * column, 3).norm()}});
  }
  const Operator<D> scale(matrix_of(diagonal, scales), parse_plan("CSR"));
  Fields<E> fields(second, seed.generator);
  const auto plain = Lsmr(A, {.tolerance = 1e-9}).solve(fields.right(), fields.solution());
  std::vector<double> y(fields.x.size());
  const FieldView<double> of_y(y.data(), second.columns(), 3);
  const auto scaled = Lsmr(product(A, scale), {.tolerance = 1e-9}).solve(fields.right(), of_y);
  EXPECT_TRUE(scaled.converged());
  EXPECT_LT(scaled.iterations, plain.iterations);
  scale.apply(1, of_y, 0, fields.solution(), Device::cpu().stream());
  const Vector r = fields.dense_b() - dense * fields.dense_x();
  EXPECT_NEAR(r.norm(), (fields.dense_b() - dense * least_squares(dense, fields.dense_b())).norm(),
              1e-10);
}

TEST(LeastSquaresOfACopyInFloats, EndOnTheMatrix) {
  using E = quaternion<double>;
  Seed seed(7209);
  const auto matrix = random_matrix<E>({.rows = 120, .columns = 30, .per_row = 4}, seed.generator);
  for (const double damping : {0.0, 0.5}) {
    const Operator<E> A(matrix, parse_plan("CSR,iteration-precision=single"));
    Fields<E> fields(matrix, seed.generator);
    const auto report =
        Lsmr(A, {.damping = damping, .tolerance = 1e-12}).solve(fields.right(), fields.solution());
    EXPECT_TRUE(report.converged()) << name(report.status);
    EXPECT_GT(report.restarts, 0);
    const Vector expected = least_squares(dense_of(matrix), fields.dense_b(), damping);
    EXPECT_LE((fields.dense_x() - expected).norm(), 1e-10 * expected.norm());
  }
}

TEST(LeastSquaresReports, RepeatTheirBitsForAnyTeam) {
  using E = block<float, 3, 3>;
  Seed seed(7205);
  const auto matrix =
      random_matrix<E>({.rows = 2100, .columns = 700, .per_row = 5}, seed.generator);
  Fields<E> fields(matrix, seed.generator);
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
  Fields<E> fields(matrix, seed.generator);
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

  // Far from 1, where squares would overflow.
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

TEST(LeastSquaresReports, KnowMatricesOfNothing) {
  using E = complex<double>;
  Seed seed(7210);
  for (const auto& [rows, columns] : {std::pair{0, 5}, {5, 0}, {5, 3}, {0, 0}}) {
    SCOPED_TRACE(std::to_string(rows) + " x " + std::to_string(columns));
    const auto matrix =
        random_matrix<E>({.rows = rows, .columns = columns, .per_row = 0}, seed.generator);
    const Operator<E> A(matrix, parse_plan("CSR"));
    Fields<E> fields(matrix, seed.generator);
    for (const double damping : {0.0, 1.0}) {
      const auto report = Lsmr(A, {.damping = damping}).solve(fields.right(), fields.solution());
      EXPECT_TRUE(report.converged()) << name(report.status);
      EXPECT_EQ(report.iterations, 0);
      EXPECT_NEAR(report.residual_norm, fields.dense_b().norm(), 1e-14);
    }
  }
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
               "this operator states no adjoint; override LinearOperator::adjoint",
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
    Fields<E> fields(second, seed.generator);
    AnyField b = A.row_field(), x = A.column_field();
    for (std::size_t i = 0; i < fields.b.size(); ++i) b.set(static_cast<Offset>(i), fields.b[i]);
    EXPECT_TRUE(solver.solve(b, x).converged());
    const Vector expected = least_squares(dense_of(second), fields.dense_b());
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
  Fields<E> fields(matrix, seed.generator);
  Lsmr solver(A);
  expect_error(ErrorKind::size_mismatch,
               "the solution of 5 rows of 2 components meets a field of 8 of 2", [&] {
                 std::vector<double> wrong(16);
                 solver.solve(fields.right(), FieldView<double>(wrong.data(), 8, 2));
               });
  const Operator<dual_quaternion<double>> dual(
      random_matrix<dual_quaternion<double>>({.rows = 3, .columns = 3}, seed.generator), Plan{});
  expect_error(ErrorKind::unsupported, "no adjoint: the entry has none of its kind, or is encoded",
               [&] { Lsmr refused(dual); });
}

}  // namespace
}  // namespace lsmr_test
