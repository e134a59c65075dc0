// MINRES (Paige and Saunders 1975) for Hermitian systems, definite or not, with a definite
// preconditioner. Its coefficients are real for every ring.
#pragma once

#include "heddle/methods/listing.hpp"

namespace heddle::methods {

template <Ring, bool preconditioned>
struct Minres {
  static constexpr Ring ring = Ring::real;
  /// r holds the Lanczos vector, u the one before it, both beta times as long as the paper's; z is
  /// M^-1 r. w and the one before it, in y, are the directions of x. The image in q makes room for
  /// the next z.
  enum Vector {
    x,
    r,
    u,
    q,
    w,
    y,
    z = preconditioned ? 6 : r,
    next_z = preconditioned ? q : u,
    vectors = preconditioned ? 7 : 6
  };
  enum Scalar {
    shift,      // alpha / beta, of the tridiagonal matrix
    ratio,      // beta over the beta before
    beta,       // of r, after `Rotate` the next one
    scale,      // 1 / beta of z
    delta_bar,  // of the rotations that make it triangular, as in the paper
    delta,
    epsilon,
    old_epsilon,
    gamma_inverse,
    largest_gamma,
    cosine,
    sine,
    phi,
    phi_bar,
    size,  // |b - A x| at the start of the run; phi_bar is in another norm
    scalars
  };

  struct NoVectors {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C&) {
      v[u] = v[w] = v[y] = {};
    }
  };
  /// Decides from |r|^2 and r* M^-1 r.
  struct Begin {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      judge.stop(judge.why_not_positive(sum[1].real(), device::loop_not_definite));
      const T norm = square_root(sum[1].real());
      c[phi_bar] = c[beta] = N::from_real(norm);
      c[size] = N::from_real(square_root(sum[0].real()) / norm);
      c[cosine] = N::from_real(-1);
    }
  };
  /// Decides from z* A z.
  struct Diagonal {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      const T b = c[beta].real();
      c[ratio] = N::from_real(b * c[scale].real());
      c[scale] = N::from_real(1 / b);
      c[shift] = N::from_real(sum[0].real() / b / b / b);
      if (!is_finite(c[shift].real())) judge.stop(device::loop_not_finite);
    }
  };
  /// u = A z / beta - alpha r / beta - beta u / old beta.
  struct NextLanczosVector {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C& c) {
      const auto before = v[u];
      v[u] = v[q];
      v[u].component[0] *= c[scale].real();
      add_multiple(v[u], v[r], -c[shift]);
      add_multiple(v[u], before, -c[ratio]);
    }
  };
  /// Decides from |u|^2 and u* M^-1 u.
  struct Rotate {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      const T squared = sum[1].real(), dbar = c[delta_bar].real();
      const T a = c[shift].real() * c[beta].real();
      if (!(squared >= 0)) {
        judge.stop(is_finite(squared) ? device::loop_not_definite : device::loop_not_finite);
      }
      const T cs = c[cosine].real(), sn = c[sine].real(), b = square_root(squared);
      c[beta] = N::from_real(b);
      c[old_epsilon] = c[epsilon];
      c[delta] = N::from_real(cs * dbar + sn * a);
      c[epsilon] = N::from_real(sn * b);
      c[delta_bar] = N::from_real(-cs * b);
      const T g = sn * dbar - cs * a, gamma = square_root(g * g + squared);
      if (!(gamma > 0)) judge.stop(is_finite(gamma) ? device::loop_lost : device::loop_not_finite);
      // The vectors end where A is singular: x, which has the least residual, would only grow.
      // Above the rounding of vectors in double; that of floats hides the end.
      constexpr T end_of_vectors = T(1e-6);
      const T largest = c[largest_gamma].real();
      if (gamma < end_of_vectors * largest && squared > T(0.75) * gamma * gamma) {
        judge.stop(device::loop_lost);
      }
      if (gamma > largest) c[largest_gamma] = N::from_real(gamma);
      c[gamma_inverse] = N::from_real(1 / gamma);
      c[cosine] = N::from_real(g / gamma);
      c[sine] = N::from_real(b / gamma);
      c[phi] = N::from_real(c[cosine].real() * c[phi_bar].real());
      c[phi_bar] = N::from_real(c[sine].real() * c[phi_bar].real());
      if (!judge.runs()) return;
      const T norm = c[phi_bar].real() * c[size].real();
      judge.conclude(norm * norm);
    }
  };
  /// y = (z / beta - old_epsilon y - delta w) / gamma, x += phi y.
  struct Solution {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& v, const C& c) {
      const auto before = v[y];
      v[y] = v[z];
      v[y].component[0] *= c[scale].real();
      add_multiple(v[y], before, -c[old_epsilon]);
      add_multiple(v[y], v[w], -c[delta]);
      v[y].component[0] *= c[gamma_inverse].real();
      add_multiple(v[x], v[y], c[phi]);
    }
  };

  using Start = Listing<Update<NoVectors, Reads<>, Writes<u, w, y>, Norm<r>>,
                        Precondition<r, z, RealDot<r, z>>, Decide<Begin>>;
  using Iteration = Listing<Product<z, q, RealDot<z, q>>, Decide<Diagonal>,
                            Update<NextLanczosVector, Reads<q, r, u>, Writes<u>, Norm<u>>,
                            Precondition<u, next_z, RealDot<u, next_z>>, Decide<Rotate>,
                            Update<Solution, Reads<x, z, w, y>, Writes<x, y>>>;
  using Swaps =
      Listing<Swap<r, u>, Swap<w, y>, Swap<preconditioned ? z : w, preconditioned ? next_z : w>>;
};

}  // namespace heddle::methods
