// Printed by heddle from the definition of entry split-complex.
#pragma once

#include "heddle/entries/entry.hpp"

namespace heddle_user {

/// Components x, y.
template <class S>
struct split_complex_entry {
  using scalar = S;
  using stored_scalar = S;
  using vector_entry = split_complex_entry;
  static constexpr int components = 2;
  static constexpr heddle::Ring ring = heddle::Ring::real;
  template <class T>
  using with_scalar = split_complex_entry<T>;

  S component[components];

  HEDDLE_HD static constexpr split_complex_entry zero() { return {}; }
  friend HEDDLE_INLINE void multiply_add(vector_entry& y, const split_complex_entry& a, const vector_entry& x) {
    S y0 = y.component[0];
    y0 += a.component[0] * x.component[0];
    y0 += a.component[1] * x.component[1];
    S y1 = y.component[1];
    y1 += a.component[0] * x.component[1];
    y1 += a.component[1] * x.component[0];
    y.component[0] = y0;
    y.component[1] = y1;
  }
  friend HEDDLE_HD split_complex_entry add(const split_complex_entry& a, const split_complex_entry& b) { return heddle::add_components(a, b); }
  friend HEDDLE_HD split_complex_entry inverse(const split_complex_entry& a) {
    S largest = 0;
    for (S c : a.component) largest = (c < 0 ? -c : c) > largest ? (c < 0 ? -c : c) : largest;
    split_complex_entry scaled;
    for (int k = 0; k < components; ++k) scaled.component[k] = a.component[k] / largest;
    const S t0 = scaled.component[0];
    const S t1 = scaled.component[1];
    const S t2 = t0 - t1;
    const S t3 = t0 + t1;
    const S t4 = t2 * t3;
    const S t5 = t0 / t4;
    const S t6 = -t1;
    const S t7 = t6 / t4;
    return {{t5 / largest, t7 / largest}};
  }
  friend HEDDLE_HD split_complex_entry adjoint(const split_complex_entry& a) {
    const S t0 = a.component[0];
    const S t1 = a.component[1];
    return {{t0, t1}};
  }
};

}  // namespace heddle_user
