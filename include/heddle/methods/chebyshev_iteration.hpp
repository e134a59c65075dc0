// The Chebyshev iteration (Saad 2003, algorithm 12.1), whose coefficients are known beforehand: its
// only sum is that of the judge. With theta and delta, the centre and radius of an interval, a run
// is given omega = 1 / theta and mu = delta / theta. With mu = 0 it is Richardson's x += omega M^-1
// r.
#pragma once

#include "heddle/methods/listing.hpp"

namespace heddle::methods {

template <Ring, bool preconditioned>
struct ChebyshevIteration {
  static constexpr Ring ring = Ring::real;
  static constexpr bool has_like_bodies = true;
  /// q = A d, z = M^-1 r.
  enum Vector { x, r, d, q, z = preconditioned ? 4 : r, vectors = preconditioned ? 5 : 4 };
  /// The first two are given. `rho` is the one of the algorithm; d = z along_z + d along_d.
  enum Scalar { omega, mu, rho, along_z, along_d, scalars };

  /// A negative mu means that there is no interval.
  struct Begin {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N*, Judge<T>& judge) {
      c[rho] = c[mu];
      c[along_z] = c[omega];
      const T radius = c[mu].real();
      if (!(radius >= 0)) {
        judge.stop(is_finite(radius) ? device::loop_not_definite : device::loop_not_finite);
      }
    }
  };
  struct FirstDirection {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C& c) {
      v[d] = v[z];
      scale(v[d], c[along_z].real());
    }
  };
  /// r -= q.
  struct Residual {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C&) {
      for (int k = 0; k < v[r].size; ++k) v[r].component[k] -= v[q].component[k];
    }
  };
  /// Decides from |r|^2.
  struct NextDirection {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      const T radius = c[mu].real(), old_rho = c[rho].real(), pivot = 2 - old_rho * radius;
      c[rho] = N::from_real(radius / pivot);
      c[along_z] = N::from_real(2 * c[omega].real() / pivot);
      c[along_d] = N::from_real(c[rho].real() * old_rho);
      judge.conclude(sum[0].real());
    }
  };
  /// x += d, d = z along_z + d along_d.
  struct Step {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C& c) {
      for (int k = 0; k < v[x].size; ++k) v[x].component[k] += v[d].component[k];
      scale(v[d], c[along_d].real());
      add_multiple(v[d], v[z], c[along_z]);
    }
  };

  using Start =
      Listing<Precondition<r, z>, Decide<Begin>, Update<FirstDirection, Reads<z>, Writes<d>>>;
  using Iteration =
      Listing<Product<d, q>, Update<Residual, Reads<r, q>, Writes<r>, Norm<r>>, Precondition<r, z>,
              Decide<NextDirection>, Update<Step, Reads<x, d, z>, Writes<x, d>>>;
};

}  // namespace heddle::methods
