// Eigen's solvers on the real expansion: preconditioners in the form that Eigen takes and as
// diagonals, and the comparison with a solution of Eigen's.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <utility>
#include <vector>

#include "dense_factors.hpp"
#include "systems.hpp"

namespace heddle::test {

/// The inverse of each diagonal block of `size` x `size`.
template <class T>
class EigenBlockJacobi {
 public:
  EigenBlockJacobi() = default;
  template <class Matrix>
  EigenBlockJacobi& analyzePattern(const Matrix&) {
    return *this;
  }
  template <class Matrix>
  EigenBlockJacobi& factorize(const Matrix& matrix) {
    inverses_.clear();
    for (Eigen::Index first = 0; first < matrix.rows(); first += size) {
      Tile tile(size, size);
      for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) tile(i, j) = matrix.coeff(first + i, first + j);
      }
      inverses_.push_back(LuFactors<T>(tile).inverse());
    }
    return *this;
  }
  template <class Matrix>
  EigenBlockJacobi& compute(const Matrix& matrix) {
    return factorize(matrix);
  }
  template <class Rhs>
  Eigen::Matrix<T, Eigen::Dynamic, 1> solve(const Rhs& r) const {
    Eigen::Matrix<T, Eigen::Dynamic, 1> z(r.rows());
    for (std::size_t i = 0; i < inverses_.size(); ++i) {
      const auto first = static_cast<Eigen::Index>(i) * size;
      z.segment(first, size) = inverses_[i] * r.segment(first, size);
    }
    return z;
  }
  Eigen::ComputationInfo info() { return Eigen::Success; }

  Eigen::Index size = 1;

 private:
  using Tile = Eigen::Matrix<T, Eigen::Dynamic, Eigen::Dynamic>;
  std::vector<Tile> inverses_;
};

/// A given real weight for every component.
template <class T>
class Weighted {
 public:
  Weighted() = default;
  template <class Matrix>
  Weighted& analyzePattern(const Matrix&) {
    return *this;
  }
  template <class Matrix>
  Weighted& factorize(const Matrix&) {
    return *this;
  }
  template <class Matrix>
  Weighted& compute(const Matrix&) {
    return *this;
  }
  template <class Rhs>
  Eigen::Matrix<T, Eigen::Dynamic, 1> solve(const Rhs& r) const {
    return weights.cwiseProduct(r);
  }
  Eigen::ComputationInfo info() { return Eigen::Success; }

  Eigen::Matrix<T, Eigen::Dynamic, 1> weights;
};

/// Weights from `least` to 2, for the rows and for the `components` scalars of each row; 1 without
/// a preconditioner.
inline std::pair<std::vector<double>, Eigen::VectorXd> random_weights(Index rows, int components,
                                                                      bool preconditioned,
                                                                      double least,
                                                                      Generator& generator) {
  std::vector<double> of_rows(static_cast<std::size_t>(rows), 1.0);
  Eigen::VectorXd of_scalars(rows * components);
  for (Index i = 0; i < rows; ++i) {
    double& w = of_rows[static_cast<std::size_t>(i)];
    if (preconditioned) w = uniform(generator, least, 2);
    of_scalars.segment(i * components, components).setConstant(w);
  }
  return {of_rows, of_scalars};
}

/// Solves with both, and expects solutions that are as accurate as their residuals imply.
template <class E, class Solver, class Theirs>
void compare_with_eigen(const System<E>& system, Solver& ours, Theirs& theirs, Generator& generator,
                        Report& report) {
  using S = vector_scalar_t<E>;
  const Field<E> b = random_vector<E>(system.matrix.rows(), generator);
  Field<E> x(system.matrix.rows());
  report = ours.solve(b, x);
  ASSERT_TRUE(report.converged()) << report;

  const Eigen::SparseMatrix<S, Eigen::RowMajor> expanded = expansion<S>(system.matrix);
  const Vector<S> rhs = components_of<S>(b);
  theirs.setTolerance(static_cast<S>(default_tolerance<S>));
  const Vector<S> reference = theirs.compute(expanded).solve(rhs);
  ASSERT_EQ(theirs.info(), Eigen::Success);

  const double target = default_tolerance<S> * static_cast<double>(rhs.norm());
  const auto residual = static_cast<double>(true_residual(system.matrix, b, x));
  EXPECT_TRUE(residual <= target) << residual << " > " << target;
  // Eigen's residual comes from its recurrence; rounding adds to it.
  const auto of_theirs = static_cast<double>(
      (rhs.template cast<long double>() -
       expansion<long double>(system.matrix) * reference.template cast<long double>())
          .norm());
  const auto apart = static_cast<double>(
      (components_of<long double>(x) - reference.template cast<long double>()).norm());
  EXPECT_TRUE(apart <= system.inverse_norm * (residual + of_theirs) * 1.01)
      << apart << ", residuals " << residual << " and " << of_theirs;
  EXPECT_GT(report.iterations, 3);
}

}  // namespace heddle::test
