// A real number acting on K components at once: K = 1 is the ordinary sparse matrix, K = 3 a scalar
// operator on 3-vectors, any K one operator on K right-hand sides.
#pragma once

#include "heddle/entries/entry.hpp"
#include "heddle/export.hpp"

namespace heddle {

template <class S, int K = 1>
struct HEDDLE_EXPORT real {
  using stored_scalar = S;
  using vector_entry = small_vector<S, K>;
  static constexpr int components = 1;
  static constexpr Ring ring = Ring::real;
  template <class T>
  using with_scalar = real<T, K>;

  S component[1];

  HEDDLE_HD static constexpr real zero() { return {{S(0)}}; }

  friend HEDDLE_INLINE void multiply_add(vector_entry& y, const real& a, const vector_entry& x) {
    for (int k = 0; k < K; ++k) y.component[k] += a.component[0] * x.component[k];
  }
  friend HEDDLE_HD constexpr real add(const real& a, const real& b) {
    return {{a.component[0] + b.component[0]}};
  }
  friend HEDDLE_HD constexpr real inverse(const real& a) { return {{S(1) / a.component[0]}}; }
  friend HEDDLE_HD constexpr real adjoint(const real& a) { return a; }
};

}  // namespace heddle
