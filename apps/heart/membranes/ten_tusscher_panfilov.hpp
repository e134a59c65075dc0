// K. H. W. J. ten Tusscher and A. V. Panfilov, Alternans and spiral breakup in a human ventricular
// tissue model, Am. J. Physiol. Heart Circ. Physiol. 291 (2006) H1088, which changes the model of
// ten Tusscher, Noble, Noble and Panfilov, ibid. 286 (2004) H1573. Constants and states of rest are
// those of the CellML repository's tentusscher_panfilov_2006.
//
// Formulas are rearranged so that a step takes few exponentials and divisions: e10 is e^(V/10), and
// e^((V + 30) / 10) is e10 times a constant. Several fractions share a division: 1/a is b / (a b).
#pragma once

#include "constant_exp.hpp"
#include "membrane_model.hpp"

namespace heddle::heart {

/// Concentrations in mM, conductances in nS/pF, currents in pA/pF = mV/ms, volumes in nl. The
/// stimulus is no current of an ion: K_i does not know of it.
struct TenTusscherPanfilov {
  double g_Na = 14.838, g_K1 = 5.405, g_to = 0.294, g_Kr = 0.153, g_Ks = 0.392;
  double g_CaL = 3.98e-5;  // l/(F s)
  double g_bNa = 0.00029, g_bCa = 0.000592, g_pCa = 0.1238, g_pK = 0.0146;
  double P_NaK = 2.724, K_mk = 1, K_mNa = 40, p_KNa = 0.03, K_pCa = 0.0005;
  double k_NaCa = 1000, k_sat = 0.1, alpha = 2.5, gamma = 0.35, Km_Ca = 1.38, Km_Nai = 87.5;
  double K_o = 5.4, Na_o = 140, Ca_o = 2;
  double V_leak = 0.00036, V_maxup = 0.006375, V_rel = 0.102, V_xfer = 0.0038, K_up = 0.00025;
  double k1_prime = 0.15, k2_prime = 0.045, k3 = 0.06, k4 = 0.005;
  double EC = 1.5, max_sr = 2.5, min_sr = 1;
  double Buf_c = 0.2, K_buf_c = 0.001, Buf_sr = 10, K_buf_sr = 0.3, Buf_ss = 0.4;
  double K_buf_ss = 0.00025;
  double Cm = 0.185, V_c = 0.016404, V_sr = 0.001094, V_ss = 5.468e-5;  // Cm in nF
  double R = 8314.472, T = 310, F = 96485.3415;                         // J/(kmol K), K, C/mol

  // The gate s: s_inf = 1 / (1 + e^((V + shift) / 5)),
  // tau_s = slow e^(-(V + middle)^2 / width) + fast / (1 + e^((V - 20) / 5)) + least.
  double s_shift = 20, s_slow = 85, s_middle = 45, s_width = 320, s_fast = 5, s_least = 3;
  int type = 0;

  static constexpr std::string_view name = "ten-tusscher-panfilov";
  static constexpr std::array<std::string_view, 3> types = {"epicardial", "endocardial",
                                                            "mid-myocardial"};
  static constexpr std::array<Variable, 19> variables = {{{"V"},
                                                          {"Xr1", true},
                                                          {"Xr2", true},
                                                          {"Xs", true},
                                                          {"m", true},
                                                          {"h", true},
                                                          {"j", true},
                                                          {"d", true},
                                                          {"f", true},
                                                          {"f2", true},
                                                          {"fCass", true},
                                                          {"s", true},
                                                          {"r", true},
                                                          {"R_prime"},
                                                          {"Ca_i"},
                                                          {"Ca_SR"},
                                                          {"Ca_ss"},
                                                          {"Na_i"},
                                                          {"K_i"}}};
  static const std::array<Parameter<TenTusscherPanfilov>, 47> parameters;

  static TenTusscherPanfilov of_type(int type) {
    TenTusscherPanfilov model;
    model.type = type;
    if (type == 1) {
      model.g_to = 0.073;
      model.s_shift = 28;
      model.s_slow = 1000;
      model.s_middle = 67;
      model.s_width = 1000;
      model.s_fast = 0;
      model.s_least = 8;
    } else if (type == 2) {
      model.g_Ks = 0.098;
    }
    return model;
  }

  double start(int k) const {
    constexpr double of_type[3][19] = {
        {-85.23, 0.00621, 0.4712, 0.0095, 0.00172, 0.7444, 0.7045, 3.373e-5, 0.7888, 0.9755, 0.9953,
         0.999998, 2.42e-8, 0.9073, 0.000126, 3.64, 0.00036, 8.604, 136.89},
        {-86.709, 0.00448, 0.476, 0.0087, 0.00155, 0.7573, 0.7225, 3.164e-5, 0.8009, 0.9778, 0.9953,
         0.3212, 2.235e-8, 0.9068, 0.00013, 3.715, 0.00036, 10.355, 138.4},
        {-85.423, 0.0165, 0.473, 0.0174, 0.00165, 0.749, 0.6788, 3.288e-5, 0.7026, 0.9526, 0.9942,
         0.999998, 2.347e-8, 0.8978, 0.000153, 4.272, 0.00042, 10.132, 138.52}};
    return of_type[type][k];
  }

  /// Longer steps carry V beyond the reversal potential of sodium where it rises.
  double largest_step() const { return 0.2 * std::fmin(1, 14.838 / g_Na); }

  // What `prepare` makes of the parameters.
  double RT_F, F_RT;                             // mV and 1/mV
  double log_K_o, log_Na_o, log_Ca_o, log_Ks_o;  // of what is outside
  double root_K_o;                               // of K_o / 5.4
  double NaK, NaCa, NaCa_out, CaL;               // factors of currents
  double mM_of_c, mM_of_ss, sr_of_c, sr_of_ss, c_of_ss;
  double s_ratio;  // e^(s_shift / 5)
  /// To be called once parameters are as they are to be.
  void prepare() {
    RT_F = R * T / F;
    F_RT = 1 / RT_F;
    log_K_o = std::log(K_o);
    log_Na_o = std::log(Na_o);
    log_Ca_o = std::log(Ca_o);
    log_Ks_o = std::log(K_o + p_KNa * Na_o);
    root_K_o = std::sqrt(K_o / 5.4);
    NaK = P_NaK * K_o / (K_o + K_mk);
    const double Na3 = Na_o * Na_o * Na_o;
    NaCa = k_NaCa / ((Km_Nai * Km_Nai * Km_Nai + Na3) * (Km_Ca + Ca_o));
    NaCa_out = Na3 * alpha;
    CaL = g_CaL * 2 * F;
    mM_of_c = Cm / (V_c * F);
    mM_of_ss = Cm / (V_ss * F);
    sr_of_c = V_sr / V_c;
    sr_of_ss = V_sr / V_ss;
    c_of_ss = V_c / V_ss;
    s_ratio = std::exp(s_shift / 5);
  }

  /// In the order of `variables`.
  enum State {
    Xr1,
    Xr2,
    Xs,
    m,
    h,
    j,
    d,
    f,
    f2,
    fCass,
    s,
    r,
    R_prime,
    Ca_i,
    Ca_SR,
    Ca_ss,
    Na_i,
    K_i
  };

  template <class N>
  struct Currents {
    N K, Na, CaL, Ca;  // of potassium and sodium; of calcium, from the subspace and from the cell
    N NaK, NaCa;       // pump and exchanger
  };

  template <class N>
  HEDDLE_INLINE void advance(const N& V0, const N (&y0)[18], N& V, N (&y)[18], const N& J,
                             double dt) const {
    const Currents<N> I = currents(V, y);
    const N ionic = I.K + I.Na + I.CaL + I.Ca + I.NaK + I.NaCa;
    advance_calcium(I, y0, y, dt);
    y[Na_i] = y0[Na_i] - (dt * mM_of_c) * (I.Na + 3 * (I.NaK + I.NaCa));
    y[K_i] = y0[K_i] - (dt * mM_of_c) * (I.K - 2 * I.NaK);
    advance_gates(V, y0, y, dt);
    V = V0 + dt * (J - ionic);
  }

  template <class N>
  HEDDLE_INLINE Currents<N> currents(const N& V, const N (&y)[18]) const {
    using std::exp, std::log;
    Currents<N> I;
    const N x = F_RT * V;
    // Potassium, V - E_K = w: i_K1 = g_K1 alpha / (alpha + beta) w, powers of q = e^(w/50).
    const N w = V - RT_F * (log_K_o - log(y[K_i]));
    const N w_Ks = V - RT_F * (log_Ks_o - log(y[K_i] + p_KNa * y[Na_i]));
    const N q = exp(0.02 * w), q2 = q * q, q3 = q2 * q, q5 = q3 * q2, q10 = q5 * q5;
    const N q25 = q10 * q10 * q5;
    const N beta = 3 * exp(0.0002 * (w + 100)) + constant_exp(-1) * q5;
    const N ratio = 10 * q25 * beta * (1 + constant_exp(-12) * q3);  // beta / alpha (1 + q25)
    const N K1_low = 1 + q25 + ratio, pK_low = 1 + exp((25 - V) * (1 / 5.98));
    const N of_K = 1 / (K1_low * pK_low);
    const N K1 = (g_K1 * root_K_o) * (1 + q25) * (pK_low * of_K), pK = g_pK * K1_low * of_K;
    I.K = (K1 + g_to * y[r] * y[s] + (g_Kr * root_K_o) * y[Xr1] * y[Xr2] + pK) * w +
          g_Ks * y[Xs] * y[Xs] * w_Ks;
    // Sodium.
    const N w_Na = V - RT_F * (log_Na_o - log(y[Na_i]));
    I.Na = (g_Na * y[m] * y[m] * y[m] * y[h] * y[j] + g_bNa) * w_Na;
    // Calcium.
    const N z = (2 * F_RT) * (V - 15), exp_z = exp(z);
    I.CaL = CaL * y[d] * y[f] * y[f2] * y[fCass] * over_expm1(z, exp_z) *
            (0.25 * y[Ca_ss] * exp_z - Ca_o);
    const N w_Ca = V - (0.5 * RT_F) * (log_Ca_o - log(y[Ca_i]));
    // Pumps and exchanger, by e^(-x/10).
    const N a = exp(-0.1 * x), a2 = a * a, a5 = a2 * a2 * a, a10 = a5 * a5;
    const N in = exp(gamma * x), out = in * a10;  // e^(gamma x), e^((gamma - 1) x)
    const N pCa_low = y[Ca_i] + K_pCa, NaCa_low = 1 + k_sat * out;
    const N NaK_low = (y[Na_i] + K_mNa) * (1 + 0.1245 * a + 0.0353 * a10);
    const N both = NaK_low * NaCa_low, of_all = 1 / (both * pCa_low), of_both = pCa_low * of_all;
    I.Ca = g_bCa * w_Ca + g_pCa * y[Ca_i] * (both * of_all);
    I.NaK = NaK * y[Na_i] * (NaCa_low * of_both);
    I.NaCa = NaCa * (in * Ca_o * (y[Na_i] * y[Na_i] * y[Na_i]) - NaCa_out * out * y[Ca_i]) *
             (NaK_low * of_both);
    return I;
  }

  template <class N>
  HEDDLE_INLINE void advance_gates(const N& V, const N (&y0)[18], N (&y)[18], double dt) const {
    using std::exp, std::sqrt;
    const N e20 = exp(V * 0.05), e10 = e20 * e20, e5 = e10 * e10;
    const N i20 = 1 / e20, i10 = i20 * i20, i5 = i10 * i10;
    const N e14 = exp(V * (1. / 14)), e7 = e14 * e14, e15 = exp(V * (1. / 15));
    const N i6 = exp(V * (-1. / 6));
    const N Xr1_low = e7 + constant_exp(-26. / 7), Xr2_low = 1 + exp((V + 88) * (1. / 24));
    const N of_Xr = 1 / (Xr1_low * Xr2_low);
    y[Xr1] = rush_larsen(
        y0[Xr1], e7 * (Xr2_low * of_Xr),
        (dt / 2700) * (1 + constant_exp(-4.5) * i10) * (1 + exp((V + 30) * (1 / 11.5))));
    y[Xr2] = rush_larsen(y0[Xr2], Xr1_low * of_Xr,
                         (dt / 3.36) * (1 + constant_exp(-3) * i20) * (1 + constant_exp(-3) * e20));
    const N root = sqrt(1 + constant_exp(5. / 6) * i6) * (1 + constant_exp(-35. / 15) * e15);
    y[Xs] = rush_larsen(y0[Xs], e14, e14 + constant_exp(-5. / 14), dt * root, 1400 + 80 * root);
    const N r_tau = 9.5 * exp((V + 40) * (V + 40) * (-1. / 1800)) + 0.8;
    y[r] = rush_larsen(y0[r], N(1), 1 + constant_exp(20. / 6) * i6, N(dt), r_tau);
    const N s_tau = s_slow * exp((V + s_middle) * (V + s_middle) * (-1 / s_width)) + s_least;
    const N s_step = 1 + constant_exp(-4) * e5;
    y[s] = rush_larsen(y0[s], N(1), 1 + s_ratio * e5, dt * s_step, s_tau * s_step + s_fast);
    advance_sodium_gates(V, y0, y, e5, i5, i10, dt);
    // Gates of I_CaL.
    const N d_alpha = 1 + exp((V + 35) * (-1. / 13)), d_beta = 1 + constant_exp(1) * e5;
    const N d_gamma = 1 + constant_exp(2.5) * i20, d_all = d_alpha * d_beta, d_top = e15 * e15;
    y[d] = rush_larsen(y0[d], d_top, d_top + constant_exp(-8 / 7.5), dt * d_all * d_gamma,
                       1.4 * (1.4 + 0.25 * d_alpha) * d_gamma + d_all);
    // e^(-(V + 27)^2 / 225) and e^(-(V + 27)^2 / 240) are powers 16 and 15 of one number.
    const N g = exp((V + 27) * (V + 27) * (-1. / 3600)), g2 = g * g, g4 = g2 * g2, g8 = g4 * g4;
    const N low = 1 + constant_exp(3) * e10;  // (V + 30) / 10
    const N high = 1 + constant_exp(1.3) * i10, f_both = low * high;
    y[f] = rush_larsen(y0[f], N(1), 1 + constant_exp(20. / 7) * e7, dt * f_both,
                       (1102.5 * g8 * g8 + 20) * f_both + 200 * low + 180 * high);
    const N high2 = 1 + constant_exp(2.5) * i10, f2_both = low * high2;
    const N f2_low = 1 + constant_exp(5) * e7;
    y[f2] = rush_larsen(y0[f2], 0.67 + 0.33 * f2_low, f2_low, dt * f2_both,
                        562 * g8 * g4 * g2 * g * f2_both + 31 * low + 80 * high2);
  }

  /// m, h and j; h and j have other rates above -40 mV than below.
  template <class N>
  HEDDLE_INLINE void advance_sodium_gates(const N& V, const N (&y0)[18], N (&y)[18], const N& e5,
                                          const N& i5, const N& i10, double dt) const {
    using std::exp;
    const N m_low = 1 + exp((V + 56.86) * (-1 / 9.03));
    const N m_a = 1 + constant_exp(7) * e5, m_b = 1 + exp((V - 50) * (1. / 200));
    y[m] = rush_larsen(y0[m], N(1), m_low * m_low,
                       (10 * dt) * (1 + constant_exp(-12) * i5) * m_a * m_b, m_a + m_b);
    const N low = 1 + exp((V + 71.55) * (1 / 7.43)), low2 = low * low;
    // beta_h = h_fast / h_slow, alpha_j = a_fast / a_slow and beta_j = b_fast / b_slow.
    const auto below = V < N(-40);
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
    const N inactive = slow * of_all, step = dt * low2 * of_all;
    y[h] = rush_larsen(y0[h], inactive, h_fast * j_slow * step);
    y[j] = rush_larsen(y0[j], inactive, (a_fast * b_slow + b_fast * a_slow) * h_slow * step);
  }

  /// In the cell, the sarcoplasmic reticulum and the subspace, each with a buffer; and the gate
  /// that knows of the subspace only.
  template <class N>
  HEDDLE_INLINE void advance_calcium(const Currents<N>& I, const N (&y0)[18], N (&y)[18],
                                     double dt) const {
    const N c = y[Ca_i], sr = y[Ca_SR], ss = y[Ca_ss], closed = y[R_prime];
    const N bound = 1 + 400 * ss * ss;
    y[fCass] = rush_larsen(y0[fCass], 0.6 + 0.4 * bound, bound, dt * bound, 80 + 2 * bound);
    const N leak = V_leak * (sr - c), xfer = V_xfer * (ss - c);
    const N up_low = c * c + K_up * K_up, sr_low = sr * sr + EC * EC;
    const N of_both = 1 / (up_low * sr_low);
    const N up = V_maxup * c * c * (sr_low * of_both);
    const N kcasr = max_sr - (max_sr - min_sr) * (sr * sr) * (up_low * of_both);
    const N open = k1_prime * ss * ss;  // k1 kcasr Ca_ss^2
    const N release = V_rel * open * closed / (k3 * kcasr + open) * (sr - ss);
    y[R_prime] = y0[R_prime] + dt * (k4 * (1 - closed) - k2_prime * kcasr * ss * closed);
    // d(free) / d(all calcium) beside a buffer is (Ca + K)^2 / ((Ca + K)^2 + K Buf).
    const N c2 = (c + K_buf_c) * (c + K_buf_c), c_all = c2 + K_buf_c * Buf_c;
    const N sr2 = (sr + K_buf_sr) * (sr + K_buf_sr), sr_all = sr2 + K_buf_sr * Buf_sr;
    const N ss2 = (ss + K_buf_ss) * (ss + K_buf_ss), ss_all = ss2 + K_buf_ss * Buf_ss;
    const N of_all = dt / (c_all * sr_all * ss_all);
    y[Ca_i] = y0[Ca_i] + c2 * (sr_all * ss_all * of_all) *
                             (sr_of_c * (leak - up) + xfer - (0.5 * mM_of_c) * (I.Ca - 2 * I.NaCa));
    y[Ca_SR] = y0[Ca_SR] + sr2 * (c_all * ss_all * of_all) * (up - release - leak);
    y[Ca_ss] = y0[Ca_ss] + ss2 * (c_all * sr_all * of_all) *
                               (sr_of_ss * release - c_of_ss * xfer - (0.5 * mM_of_ss) * I.CaL);
  }
};

inline constexpr std::array<Parameter<TenTusscherPanfilov>, 47> TenTusscherPanfilov::parameters = {{
    {"g_Na", &TenTusscherPanfilov::g_Na, Sign::not_negative},
    {"g_K1", &TenTusscherPanfilov::g_K1, Sign::not_negative},
    {"g_to", &TenTusscherPanfilov::g_to, Sign::not_negative},
    {"g_Kr", &TenTusscherPanfilov::g_Kr, Sign::not_negative},
    {"g_Ks", &TenTusscherPanfilov::g_Ks, Sign::not_negative},
    {"g_CaL", &TenTusscherPanfilov::g_CaL, Sign::not_negative},
    {"g_bNa", &TenTusscherPanfilov::g_bNa, Sign::not_negative},
    {"g_bCa", &TenTusscherPanfilov::g_bCa, Sign::not_negative},
    {"g_pCa", &TenTusscherPanfilov::g_pCa, Sign::not_negative},
    {"g_pK", &TenTusscherPanfilov::g_pK, Sign::not_negative},
    {"P_NaK", &TenTusscherPanfilov::P_NaK, Sign::not_negative},
    {"K_mk", &TenTusscherPanfilov::K_mk, Sign::positive},
    {"K_mNa", &TenTusscherPanfilov::K_mNa, Sign::positive},
    {"p_KNa", &TenTusscherPanfilov::p_KNa, Sign::not_negative},
    {"K_pCa", &TenTusscherPanfilov::K_pCa, Sign::positive},
    {"k_NaCa", &TenTusscherPanfilov::k_NaCa, Sign::not_negative},
    {"k_sat", &TenTusscherPanfilov::k_sat, Sign::not_negative},
    {"alpha", &TenTusscherPanfilov::alpha, Sign::not_negative},
    {"gamma", &TenTusscherPanfilov::gamma},
    {"Km_Ca", &TenTusscherPanfilov::Km_Ca, Sign::positive},
    {"Km_Nai", &TenTusscherPanfilov::Km_Nai, Sign::positive},
    {"K_o", &TenTusscherPanfilov::K_o, Sign::positive},
    {"Na_o", &TenTusscherPanfilov::Na_o, Sign::positive},
    {"Ca_o", &TenTusscherPanfilov::Ca_o, Sign::positive},
    {"V_leak", &TenTusscherPanfilov::V_leak, Sign::not_negative},
    {"V_maxup", &TenTusscherPanfilov::V_maxup, Sign::not_negative},
    {"V_rel", &TenTusscherPanfilov::V_rel, Sign::not_negative},
    {"V_xfer", &TenTusscherPanfilov::V_xfer, Sign::not_negative},
    {"K_up", &TenTusscherPanfilov::K_up, Sign::positive},
    {"k1_prime", &TenTusscherPanfilov::k1_prime, Sign::not_negative},
    {"k2_prime", &TenTusscherPanfilov::k2_prime, Sign::not_negative},
    {"k3", &TenTusscherPanfilov::k3, Sign::positive},
    {"k4", &TenTusscherPanfilov::k4, Sign::not_negative},
    {"EC", &TenTusscherPanfilov::EC, Sign::positive},
    {"max_sr", &TenTusscherPanfilov::max_sr, Sign::positive},
    {"min_sr", &TenTusscherPanfilov::min_sr, Sign::positive},
    {"Buf_c", &TenTusscherPanfilov::Buf_c, Sign::not_negative},
    {"K_buf_c", &TenTusscherPanfilov::K_buf_c, Sign::positive},
    {"Buf_sr", &TenTusscherPanfilov::Buf_sr, Sign::not_negative},
    {"K_buf_sr", &TenTusscherPanfilov::K_buf_sr, Sign::positive},
    {"Buf_ss", &TenTusscherPanfilov::Buf_ss, Sign::not_negative},
    {"K_buf_ss", &TenTusscherPanfilov::K_buf_ss, Sign::positive},
    {"Cm", &TenTusscherPanfilov::Cm, Sign::not_negative},
    {"V_c", &TenTusscherPanfilov::V_c, Sign::positive},
    {"V_sr", &TenTusscherPanfilov::V_sr, Sign::positive},
    {"V_ss", &TenTusscherPanfilov::V_ss, Sign::positive},
    {"T", &TenTusscherPanfilov::T, Sign::positive},
}};

}  // namespace heddle::heart
