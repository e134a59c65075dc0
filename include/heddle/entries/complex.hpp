// Complex numbers: components real part, imaginary part.
#pragma once

#include "heddle/entries/entry.hpp"
#include "heddle/entries/lanes.hpp"
#include "heddle/export.hpp"

namespace heddle {

template <class S>
struct HEDDLE_EXPORT complex {
  using scalar = S;
  using stored_scalar = S;
  using vector_entry = complex;
  static constexpr int components = 2;
  static constexpr Ring ring = Ring::complex;
  template <class T>
  using with_scalar = complex<T>;

  S component[2];

  HEDDLE_HD constexpr S re() const { return component[0]; }
  HEDDLE_HD constexpr S im() const { return component[1]; }

  HEDDLE_HD static constexpr complex zero() { return {{S(0), S(0)}}; }

  friend HEDDLE_INLINE void multiply_add(complex& y, const complex& a, const complex& x) {
    // Both products with a's real part come first: two independent chains of fused operations.
    y.component[0] += a.component[0] * x.component[0];
    y.component[1] += a.component[0] * x.component[1];
    y.component[0] -= a.component[1] * x.component[1];
    y.component[1] += a.component[1] * x.component[0];
  }
  /// The sum of a row: a_re (b_re, b_im) and a_im (b_re, b_im), kept apart until the end.
  struct row_sum {
    Lanes<S, 2> outer[2];
  };
  friend HEDDLE_INLINE void multiply_add(row_sum& sum, const complex& a, const complex& b) {
    for (int i = 0; i < 2; ++i) sum.outer[i].add(a.component[i], b.component);
  }
  friend HEDDLE_INLINE complex result_of(const row_sum& sum) {
    return {{sum.outer[0][0] - sum.outer[1][1], sum.outer[0][1] + sum.outer[1][0]}};
  }

  friend HEDDLE_HD constexpr complex add(const complex& a, const complex& b) {
    return {{a.re() + b.re(), a.im() + b.im()}};
  }
  /// Smith's division (Comm. ACM 5, 1962): no overflow where |a|^2 would.
  friend HEDDLE_HD constexpr complex inverse(const complex& a) {
    const S abs_re = a.re() < 0 ? -a.re() : a.re();
    const S abs_im = a.im() < 0 ? -a.im() : a.im();
    if (abs_re >= abs_im) {
      const S ratio = a.im() / a.re();
      const S scale = S(1) / (a.re() + a.im() * ratio);
      return {{scale, -ratio * scale}};
    }
    const S ratio = a.re() / a.im();
    const S scale = S(1) / (a.re() * ratio + a.im());
    return {{ratio * scale, -scale}};
  }
  friend HEDDLE_HD constexpr complex adjoint(const complex& a) { return {{a.re(), -a.im()}}; }
};

}  // namespace heddle
