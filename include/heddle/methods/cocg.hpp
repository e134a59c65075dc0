// COCG (van der Vorst and Melissen 1990): conjugate gradient over bilinear products, for complex
// symmetric systems.
#pragma once

#include "heddle/methods/conjugate_gradient.hpp"

namespace heddle::methods {

/// `r_z` is the product of r and M^-1 r.
template <Ring R, bool preconditioned>
struct Cocg : ConjugateGradient<R, preconditioned> {
  static constexpr Ring ring = R;
  using Plain = ConjugateGradient<R, preconditioned>;
  using Plain::alpha, Plain::beta, Plain::p, Plain::q, Plain::r, Plain::r_z, Plain::x, Plain::z;
  using typename Plain::FirstDirection, typename Plain::Residual,
      typename Plain::SolutionAndDirection;

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

  using Start = Listing<Precondition<r, z>,
                        Update<FirstDirection, Reads<z>, Writes<p>, PlainDot<r, p>>, Decide<Begin>>;
  using Iteration = Listing<Product<p, q, PlainDot<p, q>>, Decide<StepLength>,
                            Update<Residual, Reads<r, q>, Writes<r>, Norm<r>, PlainDot<r, r>>,
                            Precondition<r, z, PlainDot<r, z>>, Decide<NextDirection>,
                            Update<SolutionAndDirection, Reads<x, p, z>, Writes<x, p>>>;
};

}  // namespace heddle::methods
