// Scalars of Krylov loops as users assemble them from library calls: the same arithmetic on the
// host and on a GPU, so that no iteration has to wait for the host.
#pragma once

#include <cuComplex.h>

namespace heddle::bench {

// Real types of float, double, cuComplex and cuDoubleComplex, for cuBLAS.
template <class T>
struct RealOf {
  using type = T;
};
template <>
struct RealOf<cuComplex> {
  using type = float;
};
template <>
struct RealOf<cuDoubleComplex> {
  using type = double;
};
template <class T>
using real_of_t = typename RealOf<T>::type;

template <class T>
struct TextbookScalars {
  T one;
  T rho;        // <r, z>, or <r^, r>
  T rho_next;   // rho of the next iteration
  T curvature;  // <p, A p>, or <r^, v>
  T alpha;
  T minus_alpha;
  T beta;
  T ts;  // <t, s>
  T tt;  // <t, t>
  T omega;
  T minus_omega;
  real_of_t<T> square;  // |r|^2
};

/// Coefficients computed from the sums formed so far.
enum class Coefficient {
  step,       // alpha
  direction,  // beta of conjugate gradient, and rho
  bicgstab_direction,
  stabilising  // omega
};

namespace textbook {

#define HEDDLE_TEXTBOOK __host__ __device__ inline

HEDDLE_TEXTBOOK float product(float a, float b) { return a * b; }
HEDDLE_TEXTBOOK double product(double a, double b) { return a * b; }
HEDDLE_TEXTBOOK cuComplex product(cuComplex a, cuComplex b) { return cuCmulf(a, b); }
HEDDLE_TEXTBOOK cuDoubleComplex product(cuDoubleComplex a, cuDoubleComplex b) {
  return cuCmul(a, b);
}

HEDDLE_TEXTBOOK float negative(float a) { return -a; }
HEDDLE_TEXTBOOK double negative(double a) { return -a; }
HEDDLE_TEXTBOOK cuComplex negative(cuComplex a) { return {-a.x, -a.y}; }
HEDDLE_TEXTBOOK cuDoubleComplex negative(cuDoubleComplex a) { return {-a.x, -a.y}; }

// Zero for a zero denominator: a loop that rarely looks at the residual must stand still after an
// exact answer, not fill its vectors with NaN.
HEDDLE_TEXTBOOK float quotient(float a, float b) { return b == 0 ? 0 : a / b; }
HEDDLE_TEXTBOOK double quotient(double a, double b) { return b == 0 ? 0 : a / b; }
HEDDLE_TEXTBOOK cuComplex quotient(cuComplex a, cuComplex b) {
  return b.x == 0 && b.y == 0 ? cuComplex{0, 0} : cuCdivf(a, b);
}
HEDDLE_TEXTBOOK cuDoubleComplex quotient(cuDoubleComplex a, cuDoubleComplex b) {
  return b.x == 0 && b.y == 0 ? cuDoubleComplex{0, 0} : cuCdiv(a, b);
}

template <class T>
HEDDLE_TEXTBOOK void compute(Coefficient which, TextbookScalars<T>& s) {
  switch (which) {
    case Coefficient::step:
      s.alpha = quotient(s.rho, s.curvature);
      s.minus_alpha = negative(s.alpha);
      return;
    case Coefficient::direction:
      s.beta = quotient(s.rho_next, s.rho);
      s.rho = s.rho_next;
      return;
    case Coefficient::bicgstab_direction:
      s.beta = product(quotient(s.rho_next, s.rho), quotient(s.alpha, s.omega));
      s.rho = s.rho_next;
      return;
    case Coefficient::stabilising:
      s.omega = quotient(s.ts, s.tt);
      s.minus_omega = negative(s.omega);
      return;
  }
}

#undef HEDDLE_TEXTBOOK

}  // namespace textbook

}  // namespace heddle::bench
