// Gates of ten Tusscher and Panfilov's cells (ten_tusscher_panfilov.hpp) that depend on the
// potential alone.
#pragma once

#include <cmath>

#include "constant_exp.hpp"
#include "membrane_model.hpp"
#include "potential_table.hpp"

namespace heddle::heart {

struct HumanVentricleGates {
  // The gate s: s_inf = 1 / (1 + e^((V + shift) / 5)),
  // tau_s = slow e^(-(V + middle)^2 / width) + fast / (1 + e^((V - 20) / 5)) + least.
  double s_shift = 20, s_slow = 85, s_middle = 45, s_width = 320, s_fast = 5, s_least = 3;
  double s_ratio = 0;  // e^(s_shift / 5)

  void prepare_gates() { s_ratio = std::exp(s_shift / 5); }

  /// Functions of V alone, and of the length of a step: the values that gates approach, the
  /// fraction of the way that they go, and parts of currents.
  enum OfV {
    pK_part,  // factor of g_pK
    CaL_in,   // times Ca_ss
    CaL_out,
    NaK_part,
    NaCa_in,   // times Na_i^3
    NaCa_out,  // times Ca_i
    r_end,
    r_part,
    of_currents,  // end of the parts of currents and of the gate r
    Xr1_end = of_currents,
    Xr1_part,
    Xr2_end,
    Xr2_part,
    Xs_end,
    Xs_part,
    m_end,
    m_part,
    h_part,
    j_part,
    hj_end,
    s_end,
    s_part,
    d_end,
    d_part,
    f_end,
    f_part,
    f2_end,
    f2_part,
    functions
  };
  static constexpr TableShape of_V = {-128, 28};
  static_assert(functions <= of_V.columns && of_currents % 4 == 0);

  /// A gate approaches top / bottom, and dt / tau is fast / slow: one division for both.
  template <class N>
  HEDDLE_INLINE static void set_gate(N& end, N& part, const N& top, const N& bottom, const N& fast,
                                     const N& slow) {
    using std::exp;
    const N of_both = 1 / (bottom * slow);
    end = top * (slow * of_both);
    part = 1 - exp(-(fast * (bottom * of_both)));
  }

  template <class N>
  HEDDLE_INLINE void gates_of_potential(const N& V, const N& side, double dt,
                                        N (&of)[of_V.columns]) const {
    using std::exp, std::sqrt;
    const N e20 = exp(V * 0.05), e10 = e20 * e20, e5 = e10 * e10;
    const N i20 = 1 / e20, i10 = i20 * i20, i5 = i10 * i10;
    const N e14 = exp(V * (1. / 14)), e7 = e14 * e14, e15 = exp(V * (1. / 15));
    const N i6 = exp(V * (-1. / 6));
    const N Xr1_low = e7 + constant_exp(-26. / 7), Xr2_low = 1 + exp((V + 88) * (1. / 24));
    const N of_Xr = 1 / (Xr1_low * Xr2_low);
    of[Xr1_end] = e7 * (Xr2_low * of_Xr);
    of[Xr1_part] =
        1 - exp((-dt / 2700) * (1 + constant_exp(-4.5) * i10) * (1 + exp((V + 30) * (1 / 11.5))));
    of[Xr2_end] = Xr1_low * of_Xr;
    of[Xr2_part] =
        1 - exp((-dt / 3.36) * (1 + constant_exp(-3) * i20) * (1 + constant_exp(-3) * e20));
    const N root = sqrt(1 + constant_exp(5. / 6) * i6) * (1 + constant_exp(-35. / 15) * e15);
    set_gate(of[Xs_end], of[Xs_part], e14, e14 + constant_exp(-5. / 14), dt * root,
             1400 + 80 * root);
    const N r_tau = 9.5 * exp((V + 40) * (V + 40) * (-1. / 1800)) + 0.8;
    set_gate(of[r_end], of[r_part], N(1), 1 + constant_exp(20. / 6) * i6, N(dt), r_tau);
    const N s_tau = s_slow * exp((V + s_middle) * (V + s_middle) * (-1 / s_width)) + s_least;
    const N s_step = 1 + constant_exp(-4) * e5;
    set_gate(of[s_end], of[s_part], N(1), 1 + s_ratio * e5, dt * s_step, s_tau * s_step + s_fast);
    sodium_gates_of_potential(V, side, dt, e5, i5, i10, of);
    // Gates of I_CaL.
    const N d_alpha = 1 + exp((V + 35) * (-1. / 13)), d_beta = 1 + constant_exp(1) * e5;
    const N d_gamma = 1 + constant_exp(2.5) * i20, d_all = d_alpha * d_beta, d_top = e15 * e15;
    set_gate(of[d_end], of[d_part], d_top, d_top + constant_exp(-8 / 7.5), dt * d_all * d_gamma,
             1.4 * (1.4 + 0.25 * d_alpha) * d_gamma + d_all);
    // e^(-(V + 27)^2 / 225) and e^(-(V + 27)^2 / 240) are powers 16 and 15 of one number.
    const N g = exp((V + 27) * (V + 27) * (-1. / 3600)), g2 = g * g, g4 = g2 * g2, g8 = g4 * g4;
    const N low = 1 + constant_exp(3) * e10;  // (V + 30) / 10
    const N high = 1 + constant_exp(1.3) * i10, f_both = low * high;
    set_gate(of[f_end], of[f_part], N(1), 1 + constant_exp(20. / 7) * e7, dt * f_both,
             (1102.5 * g8 * g8 + 20) * f_both + 200 * low + 180 * high);
    const N high2 = 1 + constant_exp(2.5) * i10, f2_both = low * high2;
    const N f2_low = 1 + constant_exp(5) * e7;
    set_gate(of[f2_end], of[f2_part], 0.67 + 0.33 * f2_low, f2_low, dt * f2_both,
             562 * g8 * g4 * g2 * g * f2_both + 31 * low + 80 * high2);
  }

  /// m, h and j; h and j have other rates above -40 mV than below.
  template <class N>
  HEDDLE_INLINE void sodium_gates_of_potential(const N& V, const N& side, double dt, const N& e5,
                                               const N& i5, const N& i10,
                                               N (&of)[of_V.columns]) const {
    using std::exp;
    const N m_low = 1 + exp((V + 56.86) * (-1 / 9.03));
    const N m_a = 1 + constant_exp(7) * e5, m_b = 1 + exp((V - 50) * (1. / 200));
    set_gate(of[m_end], of[m_part], N(1), m_low * m_low,
             (10 * dt) * (1 + constant_exp(-12) * i5) * m_a * m_b, m_a + m_b);
    const N low = 1 + exp((V + 71.55) * (1 / 7.43)), low2 = low * low;
    // beta_h = h_fast / h_slow, alpha_j = a_fast / a_slow and beta_j = b_fast / b_slow.
    const auto below = side < N(-40);
    const N h_exp = exp(select(below, (V + 80) * (-1 / 6.8), (V + 10.66) * (-1 / 11.1)));
    const N j_exp = exp(V * select(below, N(-0.01052), N(0.057)));
    N h_fast = 0.77 / 0.13, h_slow = 1 + h_exp, a_fast = 0, a_slow = 1;
    N b_fast = 0.6 * j_exp, b_slow = 1 + constant_exp(-3.2) * i10;
    if (any(below)) {
      h_fast =
          select(below, 0.057 * h_exp + 2.7 * exp(0.079 * V) + 3.1e5 * exp(0.3485 * V), h_fast);
      h_slow = select(below, N(1), h_slow);  // alpha_h is in h_fast
      a_fast = select(
          below, (-25428 * exp(0.2444 * V) - 6.948e-6 * exp(-0.04391 * V)) * (V + 37.78), a_fast);
      a_slow = select(below, 1 + exp(0.311 * (V + 79.23)), a_slow);
      b_fast = select(below, 0.02424 * j_exp, b_fast);
      b_slow = select(below, 1 + exp(-0.1378 * (V + 40.14)), b_slow);
    }
    // One division for the three fractions of h and j.
    const N j_slow = a_slow * b_slow, slow = h_slow * j_slow, of_all = 1 / (low2 * slow);
    const N step = dt * low2 * of_all;
    of[hj_end] = slow * of_all;
    of[h_part] = 1 - exp(-(h_fast * j_slow * step));
    of[j_part] = 1 - exp(-((a_fast * b_slow + b_fast * a_slow) * h_slow * step));
  }
};

}  // namespace heddle::heart
