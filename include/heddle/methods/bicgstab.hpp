// BiCGStab (van der Vorst 1992), preconditioned from the right, with coefficients of a ring that
// act from the right. Over quaternions omega stays real: <t, s> / |t|^2 minimises |s - t omega|
// there.
#pragma once

#include "heddle/methods/listing.hpp"

namespace heddle::methods {

template <Ring R, bool preconditioned>
struct BiCGStab {
  static constexpr Ring ring = R;
  static constexpr bool has_like_bodies = true;
  /// v = A p_hat, t = A s_hat; s overwrites r.
  enum Vector {
    x,
    r,
    shadow,
    p,
    v,
    t,
    p_hat = preconditioned ? 6 : p,
    s_hat = preconditioned ? 7 : r,
    vectors = preconditioned ? 8 : 6
  };
  /// `v_in_p` is -omega beta.
  enum Scalar { rho, sigma, alpha, omega, beta, v_in_p, half, scalars };

  /// The shadow residual and p are r.
  struct CopyResidual {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& f, const C&) {
      f[shadow] = f[p] = f[r];
    }
  };
  struct Begin {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N*, Judge<T>& judge) {
      c[rho] = N::from_real(judge.first_squared_norm);
    }
  };
  /// Decides from <shadow, v>.
  struct HalfStepLength {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      if (!is_usable(sum[0]) || !is_usable(c[rho])) judge.stop(device::loop_lost);
      c[sigma] = sum[0];
      c[alpha] = inverse(c[sigma]) * c[rho];
    }
  };
  /// r -= v alpha, which makes it s.
  struct HalfStep {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& f, const C& c) {
      add_multiple(f[r], f[v], -c[alpha]);
    }
  };
  /// Decides from |s|^2, <t, s> and |t|^2. If s is small enough, omega may be 0 / 0 (identity,
  /// diagonal systems): x then gains only p_hat alpha, and s is the residual.
  struct SecondStepLength {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      c[omega] = N::from_real(sum[1].real() / sum[2].real());
      if constexpr (R == Ring::complex) {
        c[omega].component[1] = sum[1].component[1] / sum[2].real();
      }
      const T squared_s = sum[0].real();
      const bool is_half = squared_s <= judge.target || !is_usable(c[omega]);
      c[half] = N::from_real(is_half ? 1 : 0);
      if (!is_half) return;
      judge.conclude(squared_s);
      judge.finish(device::loop_orthogonal);
    }
  };
  /// x += p_hat alpha + s_hat omega, r = s - t omega.
  struct FullStep {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& f, const C& c) {
      add_multiple(f[x], f[p_hat], c[alpha]);
      if (c[half].real() != 0) return;
      add_multiple(f[x], f[s_hat], c[omega]);
      add_multiple(f[r], f[t], -c[omega]);
    }
  };
  /// Decides from |r|^2 and <shadow, r>.
  struct NextDirection {
    template <class C, class N, class T>
    HEDDLE_INLINE static void decide(C& c, const N* sum, Judge<T>& judge) {
      c[rho] = sum[1];
      c[beta] = inverse(c[sigma]) * c[rho] * inverse(c[omega]);
      c[v_in_p] = -(c[omega] * c[beta]);
      judge.conclude(sum[0].real());
    }
  };
  /// p = r + (p - v omega) beta.
  struct Direction {
    template <class V, class C>
    HEDDLE_INLINE static void at(V& f, const C& c) {
      const auto old = f[p];
      f[p] = f[r];
      add_multiple(f[p], old, c[beta]);
      add_multiple(f[p], f[v], c[v_in_p]);
    }
  };

  using Start = Listing<Decide<Begin>, Update<CopyResidual, Reads<r>, Writes<shadow, p>>>;
  using Iteration =
      Listing<Precondition<p, p_hat>, Product<p_hat, v, Dot<shadow, v>, Norm<v>>,
              Decide<HalfStepLength>, Update<HalfStep, Reads<r, v>, Writes<r>, Norm<r>>,
              Precondition<r, s_hat>, Product<s_hat, t, Dot<t, r>, Norm<t>>,
              Decide<SecondStepLength>,
              Update<FullStep, Reads<x, r, p_hat, s_hat, t>, Writes<x, r>, Norm<r>, Dot<shadow, r>>,
              Decide<NextDirection>, Update<Direction, Reads<r, p, v>, Writes<p>>>;
};

}  // namespace heddle::methods
