// The preconditioned conjugate gradient method (Saad 2003, algorithm 9.1).
#pragma once

#include "heddle/methods/listing.hpp"

namespace heddle::methods {

template <Ring, bool preconditioned>
struct ConjugateGradient {
  static constexpr Ring ring = Ring::real;
  static constexpr bool has_like_bodies = true;
  enum Vector { x, r, p, q, z = preconditioned ? 4 : r, vectors = preconditioned ? 5 : 4 };
  enum Scalar { r_z, alpha, beta, scalars };

  /// p = z.
  struct FirstDirection {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C&) {
      v[p] = v[z];
    }
  };
  struct Begin {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      c[r_z] = sum[0];
      judge.stop(judge.why_not_positive(c[r_z].real(), device::loop_not_definite));
    }
  };
  /// Decides from p* A p.
  struct StepLength {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      const T p_q = sum[0].real();
      judge.stop(judge.why_not_positive(p_q, device::loop_not_positive));
      c[alpha] = N::from_real(c[r_z].real() / p_q);
      if (!(c[alpha].real() > 0)) judge.stop(device::loop_not_positive);
    }
  };
  /// r -= alpha q.
  struct Residual {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C& c) {
      add_multiple(v[r], v[q], -c[alpha]);
    }
  };
  /// Decides from |r|^2 and r* M^-1 r.
  struct NextDirection {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      c[beta] = N::from_real(sum[1].real() / c[r_z].real());
      c[r_z] = sum[1];
      judge.conclude(sum[0].real());
      judge.finish(judge.why_not_positive(c[r_z].real(), device::loop_not_definite));
    }
  };
  /// x += alpha p, p = z + beta p.
  struct SolutionAndDirection {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C& c) {
      const auto direction = v[p];
      add_multiple(v[x], direction, c[alpha]);
      v[p] = v[z];
      add_multiple(v[p], direction, c[beta]);
    }
  };

  using Start = Listing<Precondition<r, z>,
                        Update<FirstDirection, Reads<z>, Writes<p>, RealDot<r, p>>, Decide<Begin>>;
  using Iteration =
      Listing<Product<p, q, RealDot<p, q>>, Decide<StepLength>,
              Update<Residual, Reads<r, q>, Writes<r>, Norm<r>>, Precondition<r, z, RealDot<r, z>>,
              Decide<NextDirection>, Update<SolutionAndDirection, Reads<x, p, z>, Writes<x, p>>>;
};

}  // namespace heddle::methods
