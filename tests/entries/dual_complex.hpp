// Dual complex numbers a + b eps with eps^2 = 0; components re a, im a, re b, im b.
#pragma once

#include "heddle/entries/complex.hpp"

template <class S>
struct dual_complex {
  using stored_scalar = S;
  using scalar = S;
  using vector_entry = dual_complex;
  static constexpr int components = 4;
  static constexpr heddle::Ring ring = heddle::Ring::complex;
  template <class T>
  using with_scalar = dual_complex<T>;

  S component[components];

  HEDDLE_HD heddle::complex<S> a() const { return {{component[0], component[1]}}; }
  HEDDLE_HD heddle::complex<S> b() const { return {{component[2], component[3]}}; }

  HEDDLE_HD static dual_complex zero() { return {}; }
  friend HEDDLE_HD dual_complex add(const dual_complex& p, const dual_complex& q) {
    return heddle::add_components(p, q);
  }

  /// (a + b eps)(c + d eps) = a c + (a d + b c) eps, added to y.
  friend HEDDLE_INLINE void multiply_add(dual_complex& y, const dual_complex& p,
                                         const dual_complex& x) {
    heddle::complex<S> standard = y.a(), dual = y.b();
    multiply_add(standard, p.a(), x.a());
    multiply_add(dual, p.a(), x.b());
    multiply_add(dual, p.b(), x.a());
    y = {{standard.re(), standard.im(), dual.re(), dual.im()}};
  }

  /// 1/a - (b/a^2) eps: what the Jacobi preconditioner needs.
  friend HEDDLE_HD dual_complex inverse(const dual_complex& p) {
    const heddle::complex<S> r = inverse(p.a());
    auto br = heddle::complex<S>::zero(), brr = heddle::complex<S>::zero();
    multiply_add(br, p.b(), r);
    multiply_add(brr, br, r);
    return {{r.re(), r.im(), -brr.re(), -brr.im()}};
  }
};
