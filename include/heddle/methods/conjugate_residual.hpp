// The conjugate residual method (Saad 2003, algorithm 6.20) for Hermitian systems, and COCR (Sogabe
// and Zhang 2007), the same recurrence over bilinear products, for complex symmetric ones.
#pragma once

#include "heddle/methods/listing.hpp"

namespace heddle::methods {

template <bool plain, int a, int b>
struct ResidualProduct : RealDot<a, b> {};
template <int a, int b>
struct ResidualProduct<true, a, b> : PlainDot<a, b> {};

/// R: of the coefficients; real ones where the products are not `plain`.
template <Ring R, bool preconditioned, bool plain>
struct ResidualMethod {
  static constexpr Ring ring = R;
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
  /// `z_w` is that of z and A z.
  enum Scalar { z_w, alpha, beta, scalars };
  template <int a, int b>
  using Inner = ResidualProduct<plain, a, b>;

  struct Begin {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      c[z_w] = sum[0];
      if (!is_usable(c[z_w])) judge.stop(device::loop_lost);
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
      judge.conclude(sum[0].real());
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
