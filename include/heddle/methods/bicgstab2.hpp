// BiCGStab(2) (Sleijpen and Fokkema 1993, algorithm 3.1 with l = 2), preconditioned from the right,
// with coefficients of a ring that act from the right. Two BiCG steps, then the polynomial of
// degree 2 that minimises the residual: it can have complex roots, where those of BiCGStab are
// real. Over quaternions its coefficients stay real, like BiCGStab's omega.
#pragma once

#include "heddle/methods/listing.hpp"

namespace heddle::methods {

template <int a, int b, Ring R>
struct PolynomialProduct : RealDot<a, b> {};
template <int a, int b>
struct PolynomialProduct<a, b, Ring::complex> : Dot<a, b> {};

template <Ring R, bool preconditioned>
struct BiCGStab2 {
  static constexpr Ring ring = R;
  static constexpr bool has_like_bodies = true;
  /// r1 = A M^-1 r, r2 = A M^-1 r1, and likewise the directions u, u1, u2. A hat is M^-1 of its
  /// vector.
  enum Vector {
    x,
    r,
    shadow,
    r1,
    r2,
    u,
    u1,
    u2,
    r_hat = preconditioned ? 8 : r,
    r1_hat = preconditioned ? 9 : r1,
    u_hat = preconditioned ? 10 : u,
    u1_hat = preconditioned ? 11 : u1,
    vectors = preconditioned ? 12 : 8
  };
  /// `r2_r1` is <r2, r1>; `first` and `second` are the polynomial's coefficients; `is_short` is 1
  /// if r2 adds nothing.
  enum Scalar { rho, sigma, alpha, beta, r2_r1, r2_r2, first, second, is_short, scalars };

  /// The shadow residual and u are r.
  struct CopyResidual {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& f, const C&) {
      f[shadow] = f[u] = f[r];
    }
  };
  struct Begin {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N*, Judge<T>& judge) {
      c[rho] = N::from_real(judge.first_squared_norm);
    }
  };
  /// Decides from <shadow, u1>, or <shadow, u2> in the second step.
  struct StepLength {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      if (!is_usable(sum[0]) || !is_usable(c[rho])) judge.stop(device::loop_lost);
      c[sigma] = sum[0];
      c[alpha] = inverse(c[sigma]) * c[rho];
    }
  };
  /// x += u_hat alpha, r -= u1 alpha.
  struct FirstStep {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& f, const C& c) {
      add_multiple(f[x], f[u_hat], c[alpha]);
      add_multiple(f[r], f[u1], -c[alpha]);
    }
  };
  /// Decides from |r|^2 and <shadow, r1>. If nothing is left to do, or no direction leads further,
  /// the first step was the iteration.
  struct SecondDirection {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      if (!is_usable(sum[1])) {
        judge.conclude(sum[0].real());
        judge.finish(device::loop_lost);
        judge.stop_if_over();
      }
      c[rho] = sum[1];
      c[beta] = -(inverse(c[sigma]) * c[rho]);
    }
  };
  /// u = r + u beta, u1 = r1 + u1 beta.
  struct Directions {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& f, const C& c) {
      renew(f[u], f[r], c[beta]);
      renew(f[u1], f[r1], c[beta]);
      if constexpr (preconditioned) renew(f[u_hat], f[r_hat], c[beta]);
    }
  };
  /// to = from + to beta.
  template <class N, class C>
  HEDDLE_INLINE static void renew(N& to, const N& from, const C& by) {
    const N old = to;
    to = from;
    add_multiple(to, old, by);
  }
  /// r -= u1 alpha, r1 -= u2 alpha; x follows.
  struct SecondStep {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& f, const C& c) {
      add_multiple(f[r], f[u1], -c[alpha]);
      add_multiple(f[r1], f[u2], -c[alpha]);
      if constexpr (preconditioned) add_multiple(f[r_hat], f[u1_hat], -c[alpha]);
    }
  };
  /// Keeps <r2, r1> and |r2|^2 for the polynomial.
  struct Images {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>&) {
      c[r2_r1] = sum[0];
      c[r2_r2] = sum[1];
    }
  };
  /// x += u_hat alpha.
  struct SecondSolution {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& f, const C& c) {
      add_multiple(f[x], f[u_hat], c[alpha]);
    }
  };
  /// Decides from |r1|^2, <r1, r> and <r2, r>: the smallest |r - r1 first - r2 second|. r2 is made
  /// orthogonal to r1, and left out if nothing of it remains.
  struct Polynomial {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>&) {
      const auto of_polynomial = [](const N& number) {
        return R == Ring::complex ? number : N::from_real(number.real());
      };
      const T squared = sum[0].real();
      const N r1_r = of_polynomial(sum[1]), r1_r2 = conj(of_polynomial(c[r2_r1]));
      const N along = divided(r1_r2, squared);
      const T left = c[r2_r2].real() - squared_norm(along) * squared;
      constexpr T rounding = T(1e-14);
      c[is_short] = N::from_real(left > rounding * c[r2_r2].real() ? 0 : 1);
      c[second] = N::from_real(0);
      c[first] = squared > 0 ? divided(r1_r, squared) : c[second];
      if (c[is_short].real() != 0) return;
      N rest = of_polynomial(sum[2]);
      add_multiple(rest, -conj(along), r1_r);
      c[second] = divided(rest, left);
      add_multiple(c[first], -along, c[second]);
    }
    template <class N, class T>
    HEDDLE_INLINE static N divided(N number, T by) {
      for (T& component : number.component) component /= by;
      return number;
    }
  };
  /// x += r_hat first + r1_hat second; r and u lose the same multiples of their images.
  struct FullStep {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& f, const C& c) {
      add_multiple(f[x], f[r_hat], c[first]);
      add_multiple(f[x], f[r1_hat], c[second]);
      add_multiple(f[r], f[r1], -c[first]);
      add_multiple(f[r], f[r2], -c[second]);
      add_multiple(f[u], f[u1], -c[first]);
      add_multiple(f[u], f[u2], -c[second]);
    }
  };
  /// Decides from |r|^2 and <shadow, r>.
  struct NextDirection {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      c[rho] = sum[1];
      c[beta] = inverse(c[sigma]) * c[rho] * inverse(c[second]);
      judge.conclude(sum[0].real());
      if (c[is_short].real() != 0) judge.finish(device::loop_orthogonal);
    }
  };
  /// u = r + u beta.
  struct Direction {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& f, const C& c) {
      renew(f[u], f[r], c[beta]);
    }
  };

  using Start = Listing<Decide<Begin>, Update<CopyResidual, Reads<r>, Writes<shadow, u>>>;
  using Iteration = Listing<
      Precondition<u, u_hat>, Product<u_hat, u1, Dot<shadow, u1>, Norm<u1>>, Decide<StepLength>,
      Update<FirstStep, Reads<x, r, u_hat, u1>, Writes<x, r>, Norm<r>>, Precondition<r, r_hat>,
      Product<r_hat, r1, Dot<shadow, r1>, Norm<r1>>, Decide<SecondDirection>,
      Update<Directions, Reads<r, r1, u, u1, r_hat, u_hat>, Writes<u, u1, u_hat>>,
      Precondition<u1, u1_hat>, Product<u1_hat, u2, Dot<shadow, u2>, Norm<u2>>, Decide<StepLength>,
      Update<SecondStep, Reads<r, r1, u1, u2, r_hat, u1_hat>, Writes<r, r1, r_hat>>,
      Precondition<r1, r1_hat>, Product<r1_hat, r2, Dot<r2, r1>, Norm<r2>>, Decide<Images>,
      Update<SecondSolution, Reads<x, u_hat, r, r1, r2>, Writes<x>, Norm<r1>,
             PolynomialProduct<r1, r, R>, PolynomialProduct<r2, r, R>>,
      Decide<Polynomial>,
      Update<FullStep, Reads<x, r, u, r_hat, r1_hat, r1, r2, u1, u2>, Writes<x, r, u>, Norm<r>,
             Dot<shadow, r>>,
      Decide<NextDirection>, Update<Direction, Reads<r, u>, Writes<u>>>;
};

}  // namespace heddle::methods
