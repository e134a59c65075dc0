// Conjugate gradient in runs that each continue where the previous one ended, for iterations that
// read a copy of the matrix: between two runs r becomes the true residual, and the direction stays
// (reliable updates: Sleijpen and van der Vorst 1996; van der Vorst and Ye 2000; over a lattice of
// quarks Clark, Babich, Barros, Brower and Rebbi 2010, section 4.2). A run that began along z again
// would have forgotten the spectrum that the previous one had learnt.
#pragma once

#include "heddle/methods/conjugate_gradient.hpp"

namespace heddle::methods {

/// A run that is given 1 continues from the p of the previous run, which ended after its last
/// update; one that is given 0 begins along z, and so does one whose r has little to do with that
/// p.
template <Ring R, bool preconditioned>
struct ContinuedConjugateGradient : ConjugateGradient<R, preconditioned> {
  using Plain = ConjugateGradient<R, preconditioned>;
  using Plain::alpha, Plain::beta, Plain::p, Plain::r, Plain::r_z, Plain::z;
  /// The contents of the coefficients at the start of a run: the given number; whether p stays; the
  /// multiple of z that joins it.
  enum AtStart { given = r_z, stays = alpha, turn = beta };

  struct SumsAlone {
    template <class V, class C>
    HEDDLE_INLINE static void at(V&, const C&) {}
  };
  /// Decides from r* M^-1 r and r* p. In exact arithmetic they are equal if p continues, and the
  /// step r* M^-1 r / p* A p along p descends furthest only if they are: z makes up for the change
  /// of r. If that is more than half of z, p may be mostly the error of the copy, as after a
  /// preconditioner near A^-1. Such a part never leaves p again: each later iteration gains equally
  /// little.
  struct Join {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      const T now = sum[0].real(), along = sum[1].real();
      const bool goes_on = c[given].real() != 0 && along >= now / 2 && along <= 3 * now / 2;
      judge.stop(judge.why_not_positive(now, device::loop_not_definite));
      c[stays] = N::from_real(goes_on ? T(1) : T(0));
      c[turn] = N::from_real(goes_on ? 1 - along / now : T(1));
      c[r_z] = sum[0];
    }
  };
  /// p = p + turn z, or z.
  struct FirstDirection {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C& c) {
      if (c[stays].real() != 0) {
        add_multiple(v[p], v[z], c[turn]);
      } else {
        v[p] = v[z];
      }
    }
  };

  using Start = Listing<Precondition<r, z>,
                        Update<SumsAlone, Reads<>, Writes<>, RealDot<r, z>, RealDot<r, p>>,
                        Decide<Join>, Update<FirstDirection, Reads<p, z>, Writes<p>>>;
};

}  // namespace heddle::methods
