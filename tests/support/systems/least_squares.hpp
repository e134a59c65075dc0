// Least squares by Eigen's dense matrices, and helpers shared by tests of LSMR.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <limits>
#include <random>
#include <vector>

#include "dense_factors.hpp"
#include "heddle/expansion.hpp"
#include "heddle/lsmr.hpp"
#include "support/random_matrix.hpp"
#include "support/rare_entries.hpp"

namespace heddle::test {

using RealMatrix = Eigen::MatrixXd;
using RealVector = Eigen::VectorXd;

/// The real expansion.
template <class E>
RealMatrix dense_expansion_of(const CsrMatrix<E>& matrix) {
  const auto expanded = expand(matrix);
  RealMatrix dense = RealMatrix::Zero(expanded.rows(), expanded.columns());
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
struct SystemFields {
  using S = vector_scalar_t<E>;
  std::vector<S> b, x;
  Index rows, columns;

  SystemFields(const CsrMatrix<E>& matrix, Generator& generator)
      : rows(matrix.rows()), columns(matrix.columns()) {
    b.resize(static_cast<std::size_t>(rows) * result_entry_t<E>::components);
    x.resize(static_cast<std::size_t>(columns) * vector_entry_t<E>::components);
    std::uniform_real_distribution<double> uniform(-1, 1);
    for (S& value : b) value = static_cast<S>(uniform(generator));
  }
  FieldView<const S> right() const { return {b.data(), rows, result_entry_t<E>::components}; }
  FieldView<S> solution() { return {x.data(), columns, vector_entry_t<E>::components}; }
  RealVector dense_b() const {
    return Eigen::Map<const Eigen::Matrix<S, -1, 1>>(b.data(), std::ssize(b))
        .template cast<double>();
  }
  RealVector dense_x() const {
    return Eigen::Map<const Eigen::Matrix<S, -1, 1>>(x.data(), std::ssize(x))
        .template cast<double>();
  }
};

/// The x of least norm.
inline RealVector least_squares(const RealMatrix& A, const RealVector& b, double damping = 0) {
  RealMatrix whole(A.rows() + A.cols(), A.cols());
  whole << A, RealMatrix::Identity(A.cols(), A.cols()) * damping;
  RealVector right = RealVector::Zero(whole.rows());
  right.head(A.rows()) = b;
  return solution_of_least_norm(whole, right);
}

/// The report is true of the x that was returned.
template <class S>
void expect_true_report(const LeastSquaresReport& report, const RealMatrix& A, const RealVector& b,
                        const RealVector& x, double damping) {
  const double slack = 1e3 * static_cast<double>(std::numeric_limits<S>::epsilon());
  const RealVector r = b - A * x, gradient = A.transpose() * r - damping * damping * x;
  EXPECT_NEAR(report.residual_norm, r.norm(), slack * b.norm());
  EXPECT_NEAR(report.gradient_norm, gradient.norm(), slack * A.norm() * b.norm());
  EXPECT_NEAR(report.solution_norm, x.norm(), slack * x.norm());
  const double largest = std::hypot(singular_values_of(A)(0), damping);
  EXPECT_LE(report.matrix_norm, (1 + slack) * largest);
  EXPECT_GE(report.matrix_norm, report.iterations > 0 ? 0.3 * largest : 0.0);
}

}  // namespace heddle::test
