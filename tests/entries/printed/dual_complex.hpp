// Printed by heddle from the definition of entry dual-complex.
#pragma once

#include "heddle/entries/entry.hpp"

namespace heddle_user {

/// Components a.re, a.im, b.re, b.im.
template <class S>
struct dual_complex_entry {
  using scalar = S;
  using stored_scalar = S;
  using vector_entry = dual_complex_entry;
  static constexpr int components = 4;
  static constexpr heddle::Ring ring = heddle::Ring::complex;
  template <class T>
  using with_scalar = dual_complex_entry<T>;

  S component[components];

  HEDDLE_HD static constexpr dual_complex_entry zero() { return {}; }
  friend HEDDLE_INLINE void multiply_add(vector_entry& y, const dual_complex_entry& a, const vector_entry& x) {
    S y0 = y.component[0];
    y0 += a.component[0] * x.component[0];
    y0 -= a.component[1] * x.component[1];
    S y1 = y.component[1];
    y1 += a.component[0] * x.component[1];
    y1 += a.component[1] * x.component[0];
    S y2 = y.component[2];
    y2 += a.component[0] * x.component[2];
    y2 -= a.component[1] * x.component[3];
    y2 += a.component[2] * x.component[0];
    y2 -= a.component[3] * x.component[1];
    S y3 = y.component[3];
    y3 += a.component[0] * x.component[3];
    y3 += a.component[1] * x.component[2];
    y3 += a.component[2] * x.component[1];
    y3 += a.component[3] * x.component[0];
    y.component[0] = y0;
    y.component[1] = y1;
    y.component[2] = y2;
    y.component[3] = y3;
  }
  friend HEDDLE_HD dual_complex_entry add(const dual_complex_entry& a, const dual_complex_entry& b) { return heddle::add_components(a, b); }
  friend HEDDLE_HD dual_complex_entry inverse(const dual_complex_entry& a) {
    S largest = 0;
    for (S c : a.component) largest = (c < 0 ? -c : c) > largest ? (c < 0 ? -c : c) : largest;
    dual_complex_entry scaled;
    for (int k = 0; k < components; ++k) scaled.component[k] = a.component[k] / largest;
    const S t0 = S(1);
    const S t1 = scaled.component[0];
    const S t2 = scaled.component[1];
    const S t3 = -t2;
    const S t4 = t0 * t1;
    const S t5 = t0 * t3;
    const S t6 = t1 * t1;
    const S t7 = t2 * t2;
    const S t8 = t6 + t7;
    const S t9 = t4 / t8;
    const S t10 = t5 / t8;
    const S t11 = scaled.component[2];
    const S t12 = scaled.component[3];
    const S t13 = -t11;
    const S t14 = -t12;
    const S t15 = t1 * t2;
    const S t16 = t2 * t1;
    const S t17 = t6 - t7;
    const S t18 = t15 + t16;
    const S t19 = -t18;
    const S t20 = t13 * t17;
    const S t21 = t14 * t19;
    const S t22 = t13 * t19;
    const S t23 = t14 * t17;
    const S t24 = t20 - t21;
    const S t25 = t22 + t23;
    const S t26 = t17 * t17;
    const S t27 = t18 * t18;
    const S t28 = t26 + t27;
    const S t29 = t24 / t28;
    const S t30 = t25 / t28;
    return {{t9 / largest, t10 / largest, t29 / largest, t30 / largest}};
  }
};

}  // namespace heddle_user
