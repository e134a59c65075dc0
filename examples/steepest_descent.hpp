// Steepest descent with momentum as a user-defined method, see docs/inside/adding-a-method.md. A
// run-time compiler reads this text too, so it includes no standard header.
#pragma once

#include "heddle/methods/listing.hpp"

template <heddle::Ring, bool preconditioned>
struct SteepestDescent {
  static constexpr heddle::Ring ring = heddle::Ring::real;
  /// The direction d and its image A d; z = M^-1 r is r itself without a preconditioner.
  enum Vector { x, r, d, image, z = preconditioned ? 4 : r, vectors = preconditioned ? 5 : 4 };
  enum Scalar { length, scalars };

  struct FirstDirection {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C&) {
      v[d] = v[z];
    }
  };
  /// Decides from the sums d* r, where d is the direction that the last iteration left, and d* A d.
  struct StepLength {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, heddle::methods::Judge<T>& judge) {
      judge.stop(judge.why_not_positive(sum[1].real(), heddle::device::loop_lost));
      c[length] = N::from_real(sum[0].real() / sum[1].real());
    }
  };
  /// x += length d, r -= length A d.
  struct Step {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C& c) {
      add_multiple(v[x], v[d], c[length]);
      add_multiple(v[r], v[image], -c[length]);
    }
  };
  /// Decides from the sum |r|^2.
  struct End {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C&, const N* sum, heddle::methods::Judge<T>& judge) {
      judge.conclude(sum[0].real());
    }
  };
  /// d = z + 0.8 d.
  struct Direction {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C&) {
      const auto old = v[d];
      v[d] = v[z];
      for (int k = 0; k < v[d].size; ++k) v[d].component[k] += 0.8f * old.component[k];
    }
  };

  template <int... v>
  using Reads = heddle::methods::Reads<v...>;
  template <int... v>
  using Writes = heddle::methods::Writes<v...>;
  template <int a, int b>
  using RealDot = heddle::methods::RealDot<a, b>;

  using Start = heddle::methods::Listing<
      heddle::methods::Precondition<r, z>,
      heddle::methods::Update<FirstDirection, Reads<z>, Writes<d>, RealDot<d, r>>>;
  using Iteration = heddle::methods::Listing<
      heddle::methods::Product<d, image, RealDot<d, image>>, heddle::methods::Decide<StepLength>,
      heddle::methods::Update<Step, Reads<x, r, d, image>, Writes<x, r>, heddle::methods::Norm<r>>,
      heddle::methods::Precondition<r, z>, heddle::methods::Decide<End>,
      heddle::methods::Update<Direction, Reads<d, z>, Writes<d>, RealDot<d, r>>>;
};
