// Preconditioners in the form that Eigen's solvers take, on the real expansion.
#pragma once

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <vector>

namespace heddle::test {

/// The inverse of each diagonal block of `size` x `size`.
template <class T>
class BlockJacobi {
 public:
  BlockJacobi() = default;
  template <class Matrix>
  BlockJacobi& analyzePattern(const Matrix&) {
    return *this;
  }
  template <class Matrix>
  BlockJacobi& factorize(const Matrix& matrix) {
    inverses_.clear();
    for (Eigen::Index first = 0; first < matrix.rows(); first += size) {
      Tile tile(size, size);
      for (int i = 0; i < size; ++i) {
        for (int j = 0; j < size; ++j) tile(i, j) = matrix.coeff(first + i, first + j);
      }
      inverses_.push_back(tile.inverse());
    }
    return *this;
  }
  template <class Matrix>
  BlockJacobi& compute(const Matrix& matrix) {
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

}  // namespace heddle::test
