// Small dense matrices over a coefficient ring: what block methods compute between two passes over
// their fields.
#pragma once

#include <cmath>
#include <cstddef>
#include <vector>

#include "heddle/methods/coefficient.hpp"

namespace heddle::detail {

/// A matrix stored column by column.
template <Ring R, class T>
class RingMatrix {
 public:
  using Number = Coefficient<R, T>;

  RingMatrix() = default;
  RingMatrix(int rows, int columns)
      : rows_(rows),
        columns_(columns),
        numbers_(static_cast<std::size_t>(rows) * static_cast<std::size_t>(columns)) {}

  int rows() const { return rows_; }
  int columns() const { return columns_; }
  Number& operator()(int i, int j) { return numbers_[place(i, j)]; }
  const Number& operator()(int i, int j) const { return numbers_[place(i, j)]; }

  bool is_finite() const {
    for (const Number& number : numbers_) {
      for (const T c : number.component) {
        if (!std::isfinite(c)) return false;
      }
    }
    return true;
  }

  /// The columns [begin, end).
  RingMatrix columns(int begin, int end) const {
    RingMatrix part(rows_, end - begin);
    for (int j = begin; j < end; ++j) {
      for (int i = 0; i < rows_; ++i) part(i, j - begin) = (*this)(i, j);
    }
    return part;
  }

 private:
  std::size_t place(int i, int j) const {
    return static_cast<std::size_t>(i) +
           static_cast<std::size_t>(j) * static_cast<std::size_t>(rows_);
  }

  int rows_ = 0, columns_ = 0;
  std::vector<Number> numbers_;
};

template <Ring R, class T>
RingMatrix<R, T> operator*(const RingMatrix<R, T>& a, const RingMatrix<R, T>& b) {
  RingMatrix<R, T> product(a.rows(), b.columns());
  for (int j = 0; j < b.columns(); ++j) {
    for (int k = 0; k < b.rows(); ++k) {
      for (int i = 0; i < a.rows(); ++i) add_multiple(product(i, j), a(i, k), b(k, j));
    }
  }
  return product;
}

/// a* b.
template <Ring R, class T>
RingMatrix<R, T> adjoint_product(const RingMatrix<R, T>& a, const RingMatrix<R, T>& b) {
  RingMatrix<R, T> product(a.columns(), b.columns());
  for (int j = 0; j < b.columns(); ++j) {
    for (int i = 0; i < a.columns(); ++i) {
      for (int k = 0; k < b.rows(); ++k) {
        add_inner_product(a(k, i), b(k, j), product(i, j).component);
      }
    }
  }
  return product;
}

/// a -= b.
template <Ring R, class T>
void subtract(RingMatrix<R, T>& a, const RingMatrix<R, T>& b) {
  for (int j = 0; j < a.columns(); ++j) {
    for (int i = 0; i < a.rows(); ++i) {
      for (int c = 0; c < ring_size(R); ++c) a(i, j).component[c] -= b(i, j).component[c];
    }
  }
}

/// -a.
template <Ring R, class T>
RingMatrix<R, T> negated(RingMatrix<R, T> a) {
  for (int j = 0; j < a.columns(); ++j) {
    for (int i = 0; i < a.rows(); ++i) a(i, j) = -a(i, j);
  }
  return a;
}

/// 1.
template <Ring R, class T>
RingMatrix<R, T> identity_matrix(int size) {
  RingMatrix<R, T> one(size, size);
  for (int i = 0; i < size; ++i) one(i, i) = Coefficient<R, T>::from_real(1);
  return one;
}

/// (a + a*) / 2.
template <Ring R, class T>
void make_hermitian(RingMatrix<R, T>& a) {
  for (int j = 0; j < a.columns(); ++j) {
    for (int i = 0; i <= j; ++i) {
      for (int c = 0; c < ring_size(R); ++c) {
        const T mirrored = c == 0 ? a(j, i).component[c] : -a(j, i).component[c];
        const T mean = (a(i, j).component[c] + mirrored) / 2;
        a(i, j).component[c] = mean;
        a(j, i).component[c] = c == 0 ? mean : -mean;
      }
    }
  }
}

}  // namespace heddle::detail
