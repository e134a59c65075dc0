// Preconditioners on the real expansion, in the form that Eigen takes and as diagonals.
#pragma once

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

}  // namespace heddle::test
