// MINRES (Paige and Saunders 1975) for Hermitian systems, definite or not, with a definite
// preconditioner. Its coefficients are real for every ring.
#pragma once

#include "heddle/methods/listing.hpp"

namespace heddle::methods {

template <Ring, bool preconditioned>
struct Minres {
  static constexpr Ring ring = Ring::real;
  static constexpr bool has_like_bodies = true;
  /// r holds the Lanczos vector, u the previous one, both beta times as long as the paper's; z is
  /// M^-1 r. w and its predecessor, in y, are the directions of x. The image in q makes room for
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
    shift,      // alpha / beta, from the tridiagonal matrix
    ratio,      // beta over the previous beta
    beta,       // beta of r, after `Rotate` the next one
    scale,      // 1 / beta, for z
    delta_bar,  // this and the next ones: the rotations that make it triangular, as in the paper
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
    // The next ones are for |x|, see `Length`.
    corner,
    middle,
    theta,
    rotated_theta,
    eta,
    old_eta,
    mu,
    old_mu,
    old_phi,
    settled,
    last_length,
    length,
    gain,
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
  /// |x|, minus its initial value in the run, in the norm of M: rotations from the right make the
  /// triangle of `Rotate` a lower one, whose solutions mu have that length (Choi, Paige and
  /// Saunders 2011, "MINRES-QLP", section 4).
  struct Length {
    /// A plane rotation of (a, b) to (norm, 0).
    template <class T>
    struct Turn {
      T cosine = 1, sine = 0, norm = 0, inverse = 0;

      HEDDLE_INLINE Turn(T a, T b) : norm(square_root(a * a + b * b)) {
        if (!(norm > 0)) return;
        inverse = 1 / norm;
        cosine = a * inverse;
        sine = b * inverse;
      }
    };

    /// Counts the step phi of the row that ends with delta and gamma, after a step `before`. True
    /// if x is twice as long as when this was last so, by a step d of |A d| < t |A| |x|, with t the
    /// rounding of vectors to the power of 3/4: A takes d to almost zero, so that x, which has the
    /// least residual, would only grow. |A d|^2 is the sum of phi^2, since A d is orthogonal to the
    /// residual that it leaves.
    template <class N, class C, class T>
    HEDDLE_INLINE static bool grows_in_vain(C& c, T gamma, T before, T rounding) {
      const T step = c[phi].real(), row = c[delta].real();
      const Turn<T> first(c[middle].real(), c[old_epsilon].real());
      const T across = first.sine * c[theta].real() - first.cosine * row;
      const T theta_of_two = first.cosine * c[theta].real() + first.sine * row;
      const T rotated = -first.cosine * gamma, next_eta = first.sine * gamma;
      const Turn<T> second(c[corner].real(), across);
      const T next_theta = second.sine * rotated, next_corner = -second.cosine * rotated;
      // The third number from the end is final; the last two hold for one step each.
      const T final_mu = (c[old_phi].real() - c[old_eta].real() * c[old_mu].real() -
                          c[rotated_theta].real() * c[mu].real()) *
                         first.inverse;
      const T middle_mu =
          (before - c[eta].real() * c[mu].real() - theta_of_two * final_mu) * second.inverse;
      const T last_mu = (step - next_eta * final_mu - next_theta * middle_mu) / next_corner;
      const T of_final = c[settled].real() + final_mu * final_mu;
      const T squared = of_final + middle_mu * middle_mu + last_mu * last_mu;
      const T fallen = c[gain].real() + step * step;
      const auto keep = [&](int scalar, T value) { c[scalar] = N::from_real(value); };
      keep(corner, next_corner);
      keep(middle, second.norm);
      keep(theta, next_theta);
      keep(rotated_theta, theta_of_two);
      keep(old_eta, c[eta].real());
      keep(eta, next_eta);
      keep(old_mu, c[mu].real());
      keep(mu, final_mu);
      keep(old_phi, before);
      keep(settled, of_final);
      keep(gain, fallen);
      const T largest = c[largest_gamma].real();
      const T loss = largest * largest * rounding * square_root(rounding) * squared;
      const T last = c[last_length].real(), known = c[length].real();
      keep(last_length, squared);
      if (last > 0 && squared >= 4 * last && step * step < loss) return true;
      if (!(squared >= 4 * known)) return false;
      keep(length, squared);
      keep(gain, T(0));
      return known > 0 && fallen < loss;
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
      if (gamma > c[largest_gamma].real()) c[largest_gamma] = N::from_real(gamma);
      c[gamma_inverse] = N::from_real(1 / gamma);
      c[cosine] = N::from_real(g / gamma);
      c[sine] = N::from_real(b / gamma);
      const T before = c[phi].real();
      c[phi] = N::from_real(c[cosine].real() * c[phi_bar].real());
      c[phi_bar] = N::from_real(c[sine].real() * c[phi_bar].real());
      const bool is_over = Length::template grows_in_vain<N>(c, gamma, before, judge.rounding);
      const T norm = c[phi_bar].real() * c[size].real();
      // A step that reduces the residual a hundredfold, or to its target, was not in vain.
      const bool helps = c[sine].real() <= T(0.01) || norm * norm <= judge.target;
      if (is_over && !helps) judge.stop(device::loop_lost);
      if (!judge.runs()) return;
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
