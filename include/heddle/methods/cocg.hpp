// COCG (van der Vorst and Melissen 1990): conjugate gradient over bilinear products, for complex
// symmetric systems.
#pragma once

#include "heddle/methods/listing.hpp"

namespace heddle::methods {

template <Ring R, bool preconditioned>
struct Cocg {
  static constexpr Ring ring = R;
  static constexpr bool has_like_bodies = true;
  enum Vector { x, r, p, q, z = preconditioned ? 4 : r, vectors = preconditioned ? 5 : 4 };
  /// `r_z` is the product of r and M^-1 r.
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
      if (!is_usable(c[r_z])) judge.stop(device::loop_lost);
    }
  };
  /// Decides from the product of p and A p.
  struct StepLength {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      if (!is_usable(sum[0])) judge.stop(device::loop_orthogonal);
      c[alpha] = inverse(sum[0]) * c[r_z];
    }
  };
  /// r -= q alpha.
  struct Residual {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C& c) {
      add_multiple(v[r], v[q], -c[alpha]);
    }
  };
  /// Decides from |r|^2 and the products of r with itself and with M^-1 r.
  struct NextDirection {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      c[beta] = inverse(c[r_z]) * sum[2];
      c[r_z] = sum[2];
      judge.conclude(sum[0].real());
      if (!is_usable(c[r_z])) judge.finish(device::loop_lost);
    }
  };
  /// x += p alpha, p = z + p beta.
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
                        Update<FirstDirection, Reads<z>, Writes<p>, PlainDot<r, p>>, Decide<Begin>>;
  using Iteration = Listing<Product<p, q, PlainDot<p, q>>, Decide<StepLength>,
                            Update<Residual, Reads<r, q>, Writes<r>, Norm<r>, PlainDot<r, r>>,
                            Precondition<r, z, PlainDot<r, z>>, Decide<NextDirection>,
                            Update<SolutionAndDirection, Reads<x, p, z>, Writes<x, p>>>;
};

}  // namespace heddle::methods
