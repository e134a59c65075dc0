// Runs in both builds.
// LSMR against dense least squares, for every kind of entry.
#include "heddle/lsmr.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <algorithm>
#include <cmath>
#include <string>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/operator.hpp"
#include "heddle/operator_algebra.hpp"
#include "support/few_entries.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/least_squares.hpp"
#include "support/where_it_runs.hpp"

namespace lsmr_test {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class LeastSquares : public testing::Test {};
using Entries =
    testing::Types<real<double>, real<float>, complex<double>, complex<float>, quaternion<double>,
                   quaternion<float>, block<double, 3, 3>, block<complex<double>, 3, 3>,
                   block<double, 2, 3>, block<double, 2, 9>, stored_as<float, quaternion<double>>>;
TYPED_TEST_SUITE(LeastSquares, FewOf<Entries>);

TYPED_TEST(LeastSquares, SolveWhatEigenSolves) {
  if (group_of_entry<TypeParam> != EntryGroup::complex) HEDDLE_RELEASE_ONLY();
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
        SystemFields<E> fields(matrix, seed.generator);
        Lsmr solver(A, {.damping = damping, .tolerance = is_single ? 1e-6 : 1e-12});
        const LeastSquaresReport report = solver.solve(fields.right(), fields.solution());
        EXPECT_TRUE(report.solved()) << name(report.status) << " " << report.detail;
        const RealMatrix dense = dense_expansion_of(matrix);
        const RealVector b = fields.dense_b(), x = fields.dense_x();
        expect_true_report<S>(report, dense, b, x, damping);
        const RealVector expected = least_squares(dense, b, damping);
        const RealVector values = singular_values_of(dense);
        const double rank = 1e-9 * values(0);
        double least = values(0);
        for (const double value : values) {
          if (value > rank) least = std::min(least, value);
        }
        least = std::hypot(least, damping);
        // |A* r| = tolerance |A| |r| moves x by that divided by the square of the least singular
        // value.
        const double condition = values(0) / least;
        EXPECT_LE((x - expected).norm(), (is_single ? 1e-5 : 1e-11) * condition * condition *
                                             (expected.norm() + b.norm()));
      }
    }
  }
}

/// x_k minimizes |A* (b - A x)| over x_0 + span of (A* A)^j A* r_0, j < k: the definition of LSMR.
TEST(LeastSquaresIterates, AreThoseThatMinimizeTheGradient) {
  using E = quaternion<double>;
  Seed seed(7202);
  const CsrMatrix<E> matrix =
      random_matrix<E>({.rows = 40, .columns = 15, .per_row = 4}, seed.generator);
  const Operator<E> A(matrix, parse_plan("CSR"));
  const RealMatrix dense = dense_expansion_of(matrix);
  for (const double damping : {0.0, 0.8}) {
    for (const bool guesses : {false, true}) {
      SystemFields<E> fields(matrix, seed.generator);
      std::vector<double> guess(fields.x.size());
      for (double& value : guess) {
        value = guesses ? random_components<real<double>>(seed.generator).component[0] : 0.0;
      }
      fields.x = guess;
      const RealVector first = fields.dense_x();
      const RealMatrix normal =
          dense.transpose() * dense +
          damping * damping * RealMatrix::Identity(dense.cols(), dense.cols());
      const RealVector start = dense.transpose() * fields.dense_b() - normal * first;
      RealMatrix basis(dense.cols(), 0);
      for (int k = 1; k <= 8; ++k) {
        RealVector next = k == 1 ? start : RealVector(normal * basis.col(k - 2));
        for (int pass = 0; pass < 2; ++pass) next -= basis * (basis.transpose() * next);
        basis.conservativeResize(Eigen::NoChange, k);
        basis.col(k - 1) = next.normalized();
        const RealMatrix image = normal * basis;
        const RealVector expected = first + basis * solution_by_pivoted_qr(image, start);
        fields.x = guess;
        Lsmr solver(A, {.damping = damping, .tolerance = 0, .max_iterations = k});
        const auto report = solver.solve(fields.right(), fields.solution());
        EXPECT_EQ(report.status, Status::iteration_limit);
        EXPECT_EQ(report.iterations, k);
        EXPECT_LE((fields.dense_x() - expected).norm(), 1e-11 * expected.norm()) << k;
        expect_true_report<double>(report, dense, fields.dense_b(), fields.dense_x(), damping);
      }
    }
  }
}

/// The matrix of scipy's runs: its columns are tridiagonal, so that one line of code creates it.
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
  // Results of scipy.sparse.linalg.lsmr, scipy 1.17.1, atol = btol = 1e-8, conlim = 0.
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
    // Scipy's |A| grows with the iterations, and so does its tolerance.
    const auto solved = solve({.tolerance = 1e-8});
    EXPECT_TRUE(solved.converged());
    EXPECT_GE(solved.iterations, expected.iterations);
    EXPECT_LE(solved.iterations, expected.iterations * 5 / 4);
  }
}

TEST(LeastSquaresOfASingularMatrix, HasTheLeastNorm) {
  using E = complex<double>;
  Seed seed(7203);
  // The same columns appear twice.
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
  SystemFields<E> fields(matrix, seed.generator);
  const auto report = Lsmr(A, {.tolerance = 1e-12}).solve(fields.right(), fields.solution());
  EXPECT_TRUE(report.converged()) << name(report.status);
  const RealVector expected = least_squares(dense_expansion_of(matrix), fields.dense_b());
  EXPECT_LE((fields.dense_x() - expected).norm(), 1e-9 * expected.norm());
  EXPECT_GT(report.residual_norm, 0.1);  // inconsistent
}

/// Cameras of nine parameters and points of three, each observation a row of both: blocks of 2 x 3
/// numbers, three block columns per camera.
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
      // Columns of very different size, like those of focal lengths and translations.
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
    SystemFields<E> fields(*matrix, seed.generator);
    const auto report = solver.solve(fields.right(), fields.solution());
    EXPECT_TRUE(report.converged()) << name(report.status);
    const RealVector expected = least_squares(dense_expansion_of(*matrix), fields.dense_b(), 0.1);
    EXPECT_LE((fields.dense_x() - expected).norm(), 1e-7 * expected.norm());
  }

  // The same without damping, by A D y, x = D y.
  using D = real<double, 3>;
  Pattern diagonal{second.columns(), second.columns(), {0}, {}};
  std::vector<D> scales;
  const RealMatrix dense = dense_expansion_of(second);
  for (Index column = 0; column < second.columns(); ++column) {
    diagonal.column.push_back(column);
    diagonal.offsets.push_back(column + 1);
    scales.push_back({{1 / dense.middleCols(Eigen::Index(3) * column, 3).norm()}});
  }
  const Operator<D> scale(matrix_of(diagonal, scales), parse_plan("CSR"));
  SystemFields<E> fields(second, seed.generator);
  const auto plain = Lsmr(A, {.tolerance = 1e-9}).solve(fields.right(), fields.solution());
  std::vector<double> y(fields.x.size());
  const FieldView<double> of_y(y.data(), second.columns(), 3);
  const auto scaled = Lsmr(product(A, scale), {.tolerance = 1e-9}).solve(fields.right(), of_y);
  EXPECT_TRUE(scaled.converged());
  EXPECT_LT(scaled.iterations, plain.iterations);
  scale.apply(1, of_y, 0, fields.solution(), Device::cpu().stream());
  const RealVector r = fields.dense_b() - dense * fields.dense_x();
  EXPECT_NEAR(r.norm(), (fields.dense_b() - dense * least_squares(dense, fields.dense_b())).norm(),
              1e-10);
}

TEST(LeastSquaresOfACopyInFloats, EndOnTheMatrix) {
  using E = quaternion<double>;
  Seed seed(7209);
  const auto matrix = random_matrix<E>({.rows = 120, .columns = 30, .per_row = 4}, seed.generator);
  for (const double damping : {0.0, 0.5}) {
    const Operator<E> A(matrix, parse_plan("CSR,iteration-precision=single"));
    SystemFields<E> fields(matrix, seed.generator);
    const auto report =
        Lsmr(A, {.damping = damping, .tolerance = 1e-12}).solve(fields.right(), fields.solution());
    EXPECT_TRUE(report.converged()) << name(report.status);
    EXPECT_GT(report.restarts, 0);
    const RealVector expected =
        least_squares(dense_expansion_of(matrix), fields.dense_b(), damping);
    EXPECT_LE((fields.dense_x() - expected).norm(), 1e-10 * expected.norm());
  }
}

TEST(LeastSquaresOfACopyInSixteenBits, ReadTheMatrix) {
  using E = quaternion<double>;
  Seed seed(7210);
  const auto matrix = random_matrix<E>({.rows = 120, .columns = 30, .per_row = 4}, seed.generator);
  const SystemFields<E> fields(matrix, seed.generator);
  const auto solved = [&](const char* plan) {
    const Operator<E> A(matrix, parse_plan(plan));
    SystemFields<E> own = fields;
    const auto report = Lsmr(A, {.tolerance = 1e-12}).solve(own.right(), own.solution());
    EXPECT_TRUE(report.converged()) << name(report.status);
    return std::pair(report.iterations, RealVector(own.dense_x()));
  };
  const auto expected = solved("CSR");
  for (const char* kept : {"half", "bfloat", "scaled"}) {
    EXPECT_EQ(solved(("CSR,iteration-precision=" + std::string(kept)).c_str()), expected) << kept;
  }
}

}  // namespace
}  // namespace lsmr_test
