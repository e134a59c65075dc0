// The conjugate residual method (Saad 2003, algorithm 6.20) for Hermitian systems, and COCR (Sogabe
// and Zhang 2007), the same recurrence over bilinear products, for complex symmetric ones.
#pragma once

#include "heddle/methods/listing.hpp"

namespace heddle::methods {

template <bool plain, int a, int b>
struct ResidualProduct : RealDot<a, b> {};
template <int a, int b>
struct ResidualProduct<true, a, b> : PlainDot<a, b> {};

/// R: ring of the coefficients; real if the products are not `plain`.
template <Ring R, bool preconditioned, bool plain>
struct ResidualMethod {
  static constexpr Ring ring = R;
  static constexpr bool has_like_bodies = true;
  /// q = A p, w = A z, z = M^-1 r, u = M^-1 q.
  enum Vector {
    x,
    r,
    p,
    q,
    w,
    z = preconditioned ? 5 : r,
    u = preconditioned ? 6 : q,
    vectors = preconditioned ? 7 : 5
  };
  /// `z_w` is the product of z and A z. `largest`: the largest |z_w| / |r|^2 so far.
  enum Scalar { z_w, alpha, beta, largest, scalars = preconditioned ? 4 : 3 };
  template <int a, int b>
  using Inner = ResidualProduct<plain, a, b>;

  template <Ring Q, class T>
  HEDDLE_INLINE static T size_of(const Coefficient<Q, T>& number) {
    T sum = 0;
    for (const T component : number.component) sum += component < 0 ? -component : component;
    return sum;
  }
  /// r and z are updated separately, and rounded at the size of the first r: the rest of r that
  /// this leaves stays, while z continues to zero. Then only b - A x shows how far x is from the
  /// solution.
  template <class N, class C, class T>
  HEDDLE_INLINE static bool drifts_apart(C& c, T squared, T rounding) {
    const T ratio = size_of(c[z_w]) / squared, before = c[largest].real();
    if (ratio > before) c[largest] = N::from_real(ratio);
    return ratio < rounding * square_root(rounding) * before;
  }

  struct Begin {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      c[z_w] = sum[0];
      if (!is_usable(c[z_w])) judge.stop(device::loop_lost);
      if constexpr (preconditioned) {
        c[largest] = N::from_real(size_of(c[z_w]) / judge.first_squared_norm);
      }
    }
  };
  /// p = z, q = A p.
  struct FirstDirection {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C&) {
      v[p] = v[z];
      v[q] = v[w];
    }
  };
  /// Decides from the products of q with itself and with M^-1 q.
  struct StepLength {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      if constexpr (plain) {
        if (!is_usable(sum[1])) judge.stop(device::loop_orthogonal);
      } else {
        judge.stop(judge.why_not_positive(sum[1].real(), device::loop_not_definite));
      }
      c[alpha] = inverse(sum[1]) * c[z_w];
    }
  };
  /// x += p alpha, r -= q alpha, z -= u alpha.
  struct Step {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C& c) {
      add_multiple(v[x], v[p], c[alpha]);
      add_multiple(v[r], v[q], -c[alpha]);
      if constexpr (preconditioned) add_multiple(v[z], v[u], -c[alpha]);
    }
  };
  /// Decides from |r|^2 and the product of z and A z.
  struct NextDirection {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      c[beta] = inverse(c[z_w]) * sum[1];
      c[z_w] = sum[1];
      const T squared = sum[0].real();
      judge.conclude(squared);
      if constexpr (preconditioned) {
        if (drifts_apart<N>(c, squared, judge.rounding)) judge.finish(device::loop_reached);
      }
      if (!is_usable(c[z_w])) judge.finish(device::loop_lost);
    }
  };
  /// p = z + p beta, q = w + q beta.
  struct Direction {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C& c) {
      const auto old_p = v[p], old_q = v[q];
      v[p] = v[z];
      add_multiple(v[p], old_p, c[beta]);
      v[q] = v[w];
      add_multiple(v[q], old_q, c[beta]);
    }
  };

  using Start = Listing<Precondition<r, z>, Product<z, w, Inner<z, w>>, Decide<Begin>,
                        Update<FirstDirection, Reads<z, w>, Writes<p, q>, Inner<q, q>>,
                        Precondition<q, u, Inner<q, u>>>;
  using Iteration =
      Listing<Decide<StepLength>, Update<Step, Reads<x, r, p, q, z, u>, Writes<x, r, z>, Norm<r>>,
              Product<z, w, Inner<z, w>>, Decide<NextDirection>,
              Update<Direction, Reads<z, w, p, q>, Writes<p, q>, Inner<q, q>>,
              Precondition<q, u, Inner<q, u>>>;
};

template <Ring, bool preconditioned>
struct ConjugateResidual : ResidualMethod<Ring::real, preconditioned, false> {};
template <Ring R, bool preconditioned>
struct Cocr : ResidualMethod<R, preconditioned, true> {};

}  // namespace heddle::methods
