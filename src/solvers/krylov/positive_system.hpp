// Small dense systems with a positive semidefinite matrix perturbed by rounding: unknowns that
// depend on the rest, as far as the numbers show, are left out.
#pragma once

#include <algorithm>
#include <cmath>
#include <cstddef>
#include <limits>
#include <numeric>
#include <utility>
#include <vector>

#include "solvers/blocks/ring_matrix.hpp"

namespace heddle::detail {

/// Solves G c = g by Cholesky's method with pivoting (Higham 2002, section 10.3). Its memory is
/// kept, for systems of one size.
template <class T>
class PositiveSystem {
 public:
  using Matrix = RingMatrix<Ring::real, T>;

  explicit PositiveSystem(int size)
      : factor_(size, size), scale_(static_cast<std::size_t>(size)), order_(scale_.size()) {}

  /// Returns how many unknowns are kept; the others are set to 0. Both triangles of G are given,
  /// and differ by rounding: an unknown whose pivot, relative to the diagonal, is not well above
  /// that difference and above `rounding` is dependent. Returns 0 for numbers that are not finite.
  int solve(const Matrix& gram, const Matrix& right, T rounding, Matrix& solution) {
    std::fill_n(&solution(0, 0), gram.rows(), typename Matrix::Number{});
    if (!gram.is_finite() || !right.is_finite()) return 0;
    const int rank = factor(gram, rounding);
    forward(right, rank, solution);
    backward(rank, solution);
    if (solution.is_finite()) return rank;
    std::fill_n(&solution(0, 0), gram.rows(), typename Matrix::Number{});
    return 0;
  }

 private:
  T& at(int i, int j) { return factor_(i, j).component[0]; }
  std::size_t place(int i) const { return static_cast<std::size_t>(i); }
  T scale(int i) const { return scale_[place(i)]; }
  int pivot(int k) const { return order_[place(k)]; }

  /// Scales the diagonal to 1. Returns the largest difference between the triangles.
  T make_scaled(const Matrix& gram) {
    const int n = gram.rows();
    for (int i = 0; i < n; ++i) {
      const T squared = gram(i, i).real();
      const T root = squared > 0 ? 1 / std::sqrt(squared) : T(0);
      scale_[place(i)] = std::isfinite(root) ? root : T(0);
    }
    T difference = 0;
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        const T one = gram(i, j).real() * scale(i) * scale(j);
        const T other = gram(j, i).real() * scale(i) * scale(j);
        at(i, j) = (one + other) / 2;
        difference = std::max(difference, std::abs(one - other));
      }
    }
    return difference;
  }

  /// Computes L of P G P^T = L L^T below the diagonal, up to the rank, which is returned; rows
  /// change places.
  int factor(const Matrix& gram, T rounding) {
    constexpr T well_above = 16;
    const int n = gram.rows();
    const T drop = std::max(rounding, well_above * make_scaled(gram));
    std::iota(order_.begin(), order_.end(), 0);
    for (int k = 0; k < n; ++k) {
      int best = k;
      for (int i = k + 1; i < n; ++i) {
        if (at(i, i) > at(best, best)) best = i;
      }
      if (!(at(best, best) > drop)) return k;
      exchange(k, best);
      const T root = std::sqrt(at(k, k));
      at(k, k) = root;
      for (int i = k + 1; i < n; ++i) at(i, k) /= root;
      for (int j = k + 1; j < n; ++j) {
        for (int i = j; i < n; ++i) at(j, i) = at(i, j) -= at(i, k) * at(j, k);
      }
    }
    return n;
  }
  void exchange(int k, int best) {
    if (k == best) return;
    std::swap(order_[place(k)], order_[place(best)]);
    for (int j = 0; j < factor_.columns(); ++j) std::swap(at(k, j), at(best, j));
    // Exchanges columns only in the part left to factor; the columns before it hold L by rows.
    for (int i = k; i < factor_.rows(); ++i) std::swap(at(i, k), at(i, best));
  }

  void forward(const Matrix& right, int rank, Matrix& solution) {
    for (int k = 0; k < rank; ++k) {
      T sum = right(pivot(k), 0).real() * scale(pivot(k));
      for (int i = 0; i < k; ++i) sum -= at(k, i) * solution(pivot(i), 0).real();
      solution(pivot(k), 0).component[0] = sum / at(k, k);
    }
  }
  void backward(int rank, Matrix& solution) {
    for (int k = rank - 1; k >= 0; --k) {
      T sum = solution(pivot(k), 0).real();
      for (int i = k + 1; i < rank; ++i) sum -= at(i, k) * solution(pivot(i), 0).real();
      solution(pivot(k), 0).component[0] = sum / at(k, k);
    }
    for (int k = 0; k < rank; ++k) solution(pivot(k), 0).component[0] *= scale(pivot(k));
  }

  Matrix factor_;
  std::vector<T> scale_;
  std::vector<int> order_;
};

}  // namespace heddle::detail
