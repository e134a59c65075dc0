// Conjugate gradient with one reduction per iteration (Chronopoulos and Gear 1989).
#pragma once

#include "heddle/methods/listing.hpp"

namespace heddle::methods {

template <Ring, bool preconditioned>
struct SingleReductionConjugateGradient {
  static constexpr Ring ring = Ring::real;
  static constexpr bool has_like_bodies = true;
  /// s = A p, w = A z.
  enum Vector { x, r, p, s, w, z = preconditioned ? 5 : r, vectors = preconditioned ? 6 : 5 };
  enum Scalar { r_z, alpha, beta, scalars };

  struct NoDirection {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C&) {
      v[p] = v[s] = {};
    }
  };
  /// Decides from |r|^2 and r* M^-1 r of the previous iteration, and z* A z.
  struct Step {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      const bool is_first = c[alpha].real() == 0;
      const T now = sum[1].real();
      if (!is_first) judge.conclude(sum[0].real());
      judge.finish(judge.why_not_positive(now, device::loop_not_definite));
      const T b = is_first ? T(0) : now / c[r_z].real();
      const T p_q = is_first ? sum[2].real() : sum[2].real() - b * now / c[alpha].real();
      judge.finish(judge.why_not_positive(p_q, device::loop_not_positive));
      c[alpha] = N::from_real(now / p_q);
      if (!(c[alpha].real() > 0)) judge.finish(device::loop_not_positive);
      judge.stop_if_over();
      c[beta] = N::from_real(b);
      c[r_z] = sum[1];
    }
  };
  /// p = z + beta p, s = w + beta s, x += alpha p, r -= alpha s.
  struct All {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C& c) {
      const auto old_p = v[p], old_s = v[s];
      v[p] = v[z];
      add_multiple(v[p], old_p, c[beta]);
      v[s] = v[w];
      add_multiple(v[s], old_s, c[beta]);
      add_multiple(v[x], v[p], c[alpha]);
      add_multiple(v[r], v[s], -c[alpha]);
    }
  };

  using Start = Listing<Update<NoDirection, Reads<>, Writes<p, s>, Norm<r>>,
                        Precondition<r, z, RealDot<r, z>>>;
  using Iteration = Listing<Product<z, w, RealDot<z, w>>, Decide<Step>,
                            Update<All, Reads<x, r, p, s, w, z>, Writes<x, r, p, s>, Norm<r>>,
                            Precondition<r, z, RealDot<r, z>>>;
};

}  // namespace heddle::methods
