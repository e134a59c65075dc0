// Printed by heddle from the definition of entry symmetric-block.
#pragma once

#include "heddle/entries/entry.hpp"

namespace heddle_user {

/// Components xx, yy, xy; it acts on x, y.
template <class S>
struct symmetric_block_entry {
  using scalar = S;
  using stored_scalar = S;
  using vector_entry = heddle::small_vector<S, 2>;
  static constexpr int components = 3;
  static constexpr heddle::Ring ring = heddle::Ring::real;
  template <class T>
  using with_scalar = symmetric_block_entry<T>;

  S component[components];

  HEDDLE_HD static constexpr symmetric_block_entry zero() { return {}; }
  friend HEDDLE_INLINE void multiply_add(vector_entry& y, const symmetric_block_entry& a, const vector_entry& x) {
    S y0 = y.component[0];
    y0 += a.component[0] * x.component[0];
    y0 += a.component[2] * x.component[1];
    S y1 = y.component[1];
    y1 += a.component[1] * x.component[1];
    y1 += a.component[2] * x.component[0];
    y.component[0] = y0;
    y.component[1] = y1;
  }
  friend HEDDLE_HD symmetric_block_entry add(const symmetric_block_entry& a, const symmetric_block_entry& b) { return heddle::add_components(a, b); }
  friend HEDDLE_HD symmetric_block_entry inverse(const symmetric_block_entry& a) {
    S largest = 0;
    for (S c : a.component) largest = (c < 0 ? -c : c) > largest ? (c < 0 ? -c : c) : largest;
    symmetric_block_entry scaled;
    for (int k = 0; k < components; ++k) scaled.component[k] = a.component[k] / largest;
    const S t0 = scaled.component[1];
    const S t1 = scaled.component[0];
    const S t2 = t1 * t0;
    const S t3 = scaled.component[2];
    const S t4 = t3 * t3;
    const S t5 = t2 - t4;
    const S t6 = t0 / t5;
    const S t7 = t1 / t5;
    const S t8 = -t3;
    const S t9 = t8 / t5;
    return {{t6 / largest, t7 / largest, t9 / largest}};
  }
  friend HEDDLE_HD symmetric_block_entry adjoint(const symmetric_block_entry& a) {
    const S t0 = a.component[0];
    const S t1 = a.component[1];
    const S t2 = a.component[2];
    return {{t0, t1, t2}};
  }
};

}  // namespace heddle_user
