// Dense R x C blocks of real or complex numbers, row by row; a block acts on C components.
// A complex number inside a block takes two neighbouring components: real part, imaginary part.
#pragma once

#include "heddle/entries/complex.hpp"
#include "heddle/export.hpp"

namespace heddle {

namespace detail {

template <class T>
struct block_element {  // a real number
  using scalar = T;
  static constexpr int size = 1;
  static constexpr Ring ring = Ring::real;
  template <class U>
  using with_scalar = U;
};
template <class S>
struct block_element<complex<S>> {
  using scalar = S;
  static constexpr int size = 2;
  static constexpr Ring ring = Ring::complex;
  template <class U>
  using with_scalar = complex<U>;
};

}  // namespace detail

/// T is a real scalar or complex<scalar>.
template <class T, int R, int C>
struct HEDDLE_EXPORT block {
  using element = detail::block_element<T>;
  using scalar = typename element::scalar;
  using stored_scalar = scalar;
  using vector_entry = small_vector<scalar, C * element::size>;
  using result_entry = small_vector<scalar, R * element::size>;
  static constexpr int components = R * C * element::size;
  static constexpr int block_rows = R;
  static constexpr int block_columns = C;
  static constexpr Ring ring = element::ring;
  static constexpr bool is_complex = element::size == 2;
  template <class U>
  using with_scalar = block<typename element::template with_scalar<U>, R, C>;

  scalar component[components];

  /// Where element (row, column) begins in `component`.
  HEDDLE_HD static constexpr int at(int row, int column) {
    return (row * C + column) * element::size;
  }

  HEDDLE_HD static constexpr block zero() { return {}; }

  friend HEDDLE_INLINE void multiply_add(result_entry& y, const block& a, const vector_entry& x) {
    for (int i = 0; i < R; ++i) {
      if constexpr (is_complex) {
        scalar re = y.component[2 * i];
        scalar im = y.component[2 * i + 1];
        for (int j = 0; j < C; ++j) {
          const scalar a_re = a.component[at(i, j)], a_im = a.component[at(i, j) + 1];
          const scalar x_re = x.component[2 * j], x_im = x.component[2 * j + 1];
          re += a_re * x_re;
          im += a_re * x_im;
          re -= a_im * x_im;
          im += a_im * x_re;
        }
        y.component[2 * i] = re;
        y.component[2 * i + 1] = im;
      } else {
        scalar sum = y.component[i];
        for (int j = 0; j < C; ++j) sum += a.component[at(i, j)] * x.component[j];
        y.component[i] = sum;
      }
    }
  }
  friend HEDDLE_HD block add(const block& a, const block& b) { return add_components(a, b); }

  /// The conjugate transpose.
  friend HEDDLE_HD block<T, C, R> adjoint(const block& a) {
    block<T, C, R> t;
    for (int i = 0; i < R; ++i) {
      for (int j = 0; j < C; ++j) {
        t.component[t.at(j, i)] = a.component[at(i, j)];
        if constexpr (is_complex) t.component[t.at(j, i) + 1] = -a.component[at(i, j) + 1];
      }
    }
    return t;
  }

  /// Gauss-Jordan elimination with row pivoting. A singular block yields components that are not
  /// finite, or so large that |a| |a^-1| exceeds 1 / epsilon: the caller decides.
  friend HEDDLE_HD block inverse(const block& a)
    requires(R == C)
  {
    block left = a;
    block right = block::zero();
    for (int i = 0; i < R; ++i) right.component[at(i, i)] = scalar(1);
    for (int column = 0; column < R; ++column) {
      int pivot = column;
      for (int i = column + 1; i < R; ++i) {
        if (left.magnitude(i, column) > left.magnitude(pivot, column)) pivot = i;
      }
      left.swap_rows(pivot, column);
      right.swap_rows(pivot, column);
      const T scale = left.reciprocal(column, column);
      left.scale_row(column, scale);
      right.scale_row(column, scale);
      for (int i = 0; i < R; ++i) {
        if (i == column) continue;
        const T factor = left.get(i, column);
        left.subtract_row(i, factor, column);
        right.subtract_row(i, factor, column);
      }
    }
    return right;
  }

  HEDDLE_HD T get(int i, int j) const {
    if constexpr (is_complex) {
      return {{component[at(i, j)], component[at(i, j) + 1]}};
    } else {
      return component[at(i, j)];
    }
  }
  HEDDLE_HD void set(int i, int j, const T& value) {
    if constexpr (is_complex) {
      component[at(i, j)] = value.re();
      component[at(i, j) + 1] = value.im();
    } else {
      component[at(i, j)] = value;
    }
  }

 private:
  template <class, int, int>
  friend struct block;

  /// |re| + |im|: enough to choose a pivot by.
  HEDDLE_HD scalar magnitude(int i, int j) const {
    scalar sum = 0;
    for (int k = 0; k < element::size; ++k) {
      const scalar c = component[at(i, j) + k];
      sum += c < 0 ? -c : c;
    }
    return sum;
  }
  HEDDLE_HD T reciprocal(int i, int j) const {
    if constexpr (is_complex) {
      return inverse(get(i, j));
    } else {
      return scalar(1) / get(i, j);
    }
  }
  HEDDLE_HD static T times(const T& a, const T& b) {
    if constexpr (is_complex) {
      T product = T::zero();
      multiply_add(product, a, b);
      return product;
    } else {
      return a * b;
    }
  }
  HEDDLE_HD void swap_rows(int i, int k) {
    for (int j = 0; j < C; ++j) {
      const T kept = get(i, j);
      set(i, j, get(k, j));
      set(k, j, kept);
    }
  }
  HEDDLE_HD void scale_row(int i, const T& factor) {
    for (int j = 0; j < C; ++j) set(i, j, times(factor, get(i, j)));
  }
  HEDDLE_HD void subtract_row(int i, const T& factor, int from) {
    for (int j = 0; j < C; ++j) {
      const T product = times(factor, get(from, j));
      if constexpr (is_complex) {
        set(i, j, {{get(i, j).re() - product.re(), get(i, j).im() - product.im()}});
      } else {
        set(i, j, get(i, j) - product);
      }
    }
  }
};

// For CPUs only: a GPU fills a thread's waits with others, and has no registers to spare.
#if !defined(__CUDACC_RTC__)

namespace detail {

/// The products of a row before they are put together: a sum for each element of a block of real
/// numbers, which waits for no other, whereas `multiply_add` is a chain along each row.
template <class S, int R, int C>
struct ElementSums {
  S sum[R * C];

  friend HEDDLE_INLINE void multiply_add(ElementSums& sums, const block<S, R, C>& a,
                                         const small_vector<S, C>& x) {
    for (int k = 0; k < R * C; ++k) sums.sum[k] += a.component[k] * x.component[k % C];
  }
  friend HEDDLE_INLINE small_vector<S, R> result_of(const ElementSums& sums) {
    small_vector<S, R> y;
    for (int i = 0; i < R; ++i) {
      y.component[i] = sums.sum[i * C];
      for (int j = 1; j < C; ++j) y.component[i] += sums.sum[i * C + j];
    }
    return y;
  }
};

/// Used if a CPU's 16 registers hold the sums and x; larger blocks have enough work between waits.
template <class S, int R, int C>
  requires(!block<S, R, C>::is_complex && R * C + C <= 16)
struct row_sum_of<block<S, R, C>> {
  using type = ElementSums<S, R, C>;
};

}  // namespace detail

#endif

}  // namespace heddle
