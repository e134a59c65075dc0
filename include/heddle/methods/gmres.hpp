// GMRES (Saad and Schultz 1986), preconditioned from the right, over the entry's ring: vectors form
// a right module, so that the Hessenberg matrix H of A M^-1 V = V H acts from the left on numbers
// of the ring, and so do the rotations that make it triangular. A run is one cycle.
#pragma once

#include "heddle/methods/listing.hpp"

namespace heddle::methods {

template <Ring R, bool preconditioned>
struct Gmres {
  static constexpr Ring ring = R;
  /// v is the newest vector of the basis, z is M^-1 v. The residual makes room for images.
  enum Vector { x, r, v, z = preconditioned ? 3 : v, vectors = preconditioned ? 4 : 3 };
  enum Scalar { columns, scalars };

  /// The numbers that decisions keep: the rotations, the right-hand side that they rotate, and the
  /// triangle.
  static constexpr long long kept_numbers(long long most) { return (most + 3) * most + 1; }
  template <class N>
  struct Kept {
    int most;
    N* number;

    HEDDLE_HD explicit Kept(const Basis<N>& basis) : most(basis.most), number(basis.kept) {}
    HEDDLE_HD N& cosine(int k) const { return number[k]; }
    HEDDLE_HD N& sine(int k) const { return number[most + k]; }
    HEDDLE_HD N& side(int k) const { return number[2 * most + k]; }
    HEDDLE_HD N& triangle(int row, int column) const {
      return number[(3 + static_cast<long long>(column)) * most + 1 + row];
    }
  };

  /// The right-hand side is |r| e_1.
  struct Begin {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, Basis<N>& basis, Judge<T>& judge) {
      c[columns] = {};
      Kept<N>(basis).side(0) = N::from_real(basis.norm);
      judge.stop(judge.why_not_positive(T(basis.norm), device::loop_lost));
    }
  };

  /// (a, b) = (c a + s b, c b - conj(s) a).
  template <class N>
  HEDDLE_INLINE static void rotate(const N& cosine, const N& sine, N& a, N& b) {
    const N rotated = sine * b;
    const N other = conj(sine) * a;
    for (int k = 0; k < N::size; ++k) {
      a.component[k] = cosine.real() * a.component[k] + rotated.component[k];
      b.component[k] = cosine.real() * b.component[k] - other.component[k];
    }
  }
  /// A rotation with a real cosine takes the column's last number, real, into the one above it.
  struct Rotate {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, Basis<N>& basis, Judge<T>& judge) {
      const Kept<N> kept(basis);
      const int j = basis.count - 1;
      N* const h = basis.column;
      for (int k = 0; k < j; ++k) rotate(kept.cosine(k), kept.sine(k), h[k], h[k + 1]);
      const T above = square_root(squared_norm(h[j])), below = basis.norm;
      const T length = square_root(above * above + below * below);
      if (!(length > 0) || !is_finite(length)) {
        return judge.stop(length == 0 ? device::loop_lost : device::loop_not_finite);
      }
      kept.cosine(j) = N::from_real(above / length);
      kept.sine(j) = N::from_real(1);
      if (above > 0) {
        for (int k = 0; k < N::size; ++k) {
          kept.sine(j).component[k] = h[j].component[k] / above * (below / length);
        }
      }
      N last = N::from_real(below);
      rotate(kept.cosine(j), kept.sine(j), h[j], last);
      for (int k = 0; k <= j; ++k) kept.triangle(k, j) = h[k];
      kept.side(j + 1) = {};
      rotate(kept.cosine(j), kept.sine(j), kept.side(j), kept.side(j + 1));
      c[columns] = N::from_real(j + 1);
      judge.conclude(squared_norm(kept.side(j + 1)));
      if (basis.count == basis.most) judge.finish(device::loop_cycle);
    }
  };
  /// Solves the triangular system, from below.
  struct Solve {
    template <class C, class N>
    HEDDLE_INLINE static void decide(C& c, Basis<N>& basis) {
      const Kept<N> kept(basis);
      basis.count = static_cast<int>(c[columns].real());
      for (int i = basis.count - 1; i >= 0; --i) {
        N sum = kept.side(i);
        for (int k = i + 1; k < basis.count; ++k) {
          const N known = kept.triangle(i, k) * basis.column[k];
          for (int n = 0; n < N::size; ++n) sum.component[n] -= known.component[n];
        }
        basis.column[i] = inverse(kept.triangle(i, i)) * sum;
      }
    }
  };

  using Start = Listing<Orthogonalize<r, v, Begin>>;
  using Iteration = Listing<Precondition<v, z>, Product<z, r>, Orthogonalize<r, v, Rotate>>;
  using Finish = FormSolution<v, z, Solve>;
};

}  // namespace heddle::methods
