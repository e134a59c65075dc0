// K. H. W. J. ten Tusscher and A. V. Panfilov, Alternans and spiral breakup in a human ventricular
// tissue model, Am. J. Physiol. Heart Circ. Physiol. 291 (2006) H1088, which changes the model of
// ten Tusscher, Noble, Noble and Panfilov, ibid. 286 (2004) H1573. Constants and states of rest are
// those of the CellML repository's tentusscher_panfilov_2006.
//
// Formulas are rearranged so that a step takes few exponentials and divisions: e10 is e^(V/10), and
// e^((V + 30) / 10) is e10 times a constant. Several fractions share a division: 1/a is b / (a b).
#pragma once

#include "human_ventricle_gates.hpp"
#include "membrane_model.hpp"
#include "potential_table.hpp"

namespace heddle::heart {

/// Concentrations in mM, conductances in nS/pF, currents in pA/pF = mV/ms, volumes in nl. The
/// stimulus is not a current of an ion: it does not enter K_i.
struct TenTusscherPanfilov : HumanVentricleGates {
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

  /// Longer steps carry V beyond the reversal potential of sodium during the upstroke.
  double largest_step() const { return 0.2 * std::fmin(1, 14.838 / g_Na); }

  // Values that `prepare` derives from the parameters.
  double RT_F, F_RT;                             // mV and 1/mV
  double log_K_o, log_Na_o, log_Ca_o, log_Ks_o;  // for outside concentrations
  double root_K_o;                               // square root of K_o / 5.4
  double NaK, NaCa, NaCa_of_out, CaL;            // factors of currents
  double mM_of_c, mM_of_ss, sr_of_c, sr_of_ss, c_of_ss;
  /// To be called once the parameters have their final values.
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
    NaCa_of_out = Na3 * alpha;
    CaL = g_CaL * 2 * F;
    mM_of_c = Cm / (V_c * F);
    mM_of_ss = Cm / (V_ss * F);
    sr_of_c = V_sr / V_c;
    sr_of_ss = V_sr / V_ss;
    c_of_ss = V_c / V_ss;
    prepare_gates();
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

  static constexpr TableShape of_w = {-64, 4};
  static constexpr std::array<TableShape, 2> tables = {of_V, of_w};

  /// Fills the table of V, or that of w = V - E_K for the current K1.
  void fill(int k, double dt, float* table) const {
    if (k == 0) {
      fill_table<of_V>(table, [&](double V, double middle, double(&of)[of_V.columns]) {
        of_potential(V, middle, dt, of);
      });
    } else {
      fill_table<of_w>(table,
                       [&](double w, double, double(&of)[of_w.columns]) { of[0] = K1_part(w); });
    }
  }

  /// All functions of V, in the order of `OfV`. Some jump at -40 mV: `side` is V, or a value near
  /// it on the required side of the jump.
  template <class N>
  HEDDLE_INLINE void of_potential(const N& V, const N& side, double dt,
                                  N (&of)[of_V.columns]) const {
    currents_of_potential(V, of);
    gates_of_potential(V, side, dt, of);
  }

  /// i_K1 = g_K1 alpha / (alpha + beta) w, and powers of q = e^(w/50): returns the factor before w.
  template <class N>
  HEDDLE_INLINE N K1_part(const N& w) const {
    using std::exp;
    const N q = exp(0.02 * w), q2 = q * q, q3 = q2 * q, q5 = q3 * q2, q10 = q5 * q5;
    const N q25 = q10 * q10 * q5;
    const N beta = 3 * exp(0.0002 * (w + 100)) + constant_exp(-1) * q5;
    const N ratio = 10 * q25 * beta * (1 + constant_exp(-12) * q3);  // beta / alpha (1 + q25)
    return (g_K1 * root_K_o) * (1 + q25) / (1 + q25 + ratio);
  }

  template <class N>
  struct Currents {
    N K, Na, CaL, Ca;  // potassium and sodium; calcium, from the subspace and from the cell
    N NaK, NaCa;       // pump and exchanger
  };

  template <class N>
  HEDDLE_INLINE void advance(const N& V0, const N (&y0)[18], N& V, N (&y)[18], const N& J,
                             double dt) const {
    N of[of_V.columns];
    of_potential(V, V, dt, of);
    const N w = above_potassium(V, y), V_then = V;
    V = V0 + dt * (J - advance_concentrations(V_then, y0, y, dt, of, w, K1_part(w)));
    advance_gates(y0, y, of);
  }
  /// The functions are looked up in two parts, so that a GPU needs fewer registers.
  template <class N>
  HEDDLE_INLINE void advance(const N& V0, const N (&y0)[18], N& V, N (&y)[18], const N& J,
                             double dt, const CellTables& tables) const {
    N of[of_V.columns], K1[of_w.columns];
    const N w = above_potassium(V, y), V_then = V;
    look_up<of_w, 0, 4>(tables.table[1], w, K1);
    look_up<of_V, 0, of_currents>(tables.table[0], V_then, of);
    V = V0 + dt * (J - advance_concentrations(V_then, y0, y, dt, of, w, K1[0]));
    look_up<of_V, of_currents, of_V.columns>(tables.table[0], V_then, of);
    if (dt != tables.dt) {  // the step is twice as long
      for (const OfV k : {Xr1_part, Xr2_part, Xs_part, m_part, h_part, j_part, d_part, f_part,
                          f2_part, s_part, r_part}) {
        of[k] = of[k] * (2 - of[k]);
      }
    }
    advance_gates(y0, y, of);
  }

 private:
  template <class N>
  HEDDLE_INLINE static void advance_gates(const N (&y0)[18], N (&y)[18],
                                          const N (&of)[of_V.columns]) {
    const auto advance_gate = [&](State gate, OfV end, OfV part) {
      y[gate] = y0[gate] + (of[end] - y0[gate]) * of[part];
    };
    advance_gate(Xr1, Xr1_end, Xr1_part);
    advance_gate(Xr2, Xr2_end, Xr2_part);
    advance_gate(Xs, Xs_end, Xs_part);
    advance_gate(m, m_end, m_part);
    advance_gate(h, hj_end, h_part);
    advance_gate(j, hj_end, j_part);
    advance_gate(d, d_end, d_part);
    advance_gate(f, f_end, f_part);
    advance_gate(f2, f2_end, f2_part);
    advance_gate(s, s_end, s_part);
    advance_gate(r, r_end, r_part);
  }

  /// Advances ions and the gate that depends on calcium; returns the current of all ions.
  template <class N>
  HEDDLE_INLINE N advance_concentrations(const N& V, const N (&y0)[18], N (&y)[18], double dt,
                                         const N (&of)[of_V.columns], const N& w,
                                         const N& K1) const {
    const Currents<N> I = currents(V, y, of, w, K1);
    advance_calcium(I, y0, y, dt);
    y[Na_i] = y0[Na_i] - (dt * mM_of_c) * (I.Na + 3 * (I.NaK + I.NaCa));
    y[K_i] = y0[K_i] - (dt * mM_of_c) * (I.K - 2 * I.NaK);
    return I.K + I.Na + I.CaL + I.Ca + I.NaK + I.NaCa;
  }

  /// V - E_K.
  template <class N>
  HEDDLE_INLINE N above_potassium(const N& V, const N (&y)[18]) const {
    using std::log;
    return V - RT_F * (log_K_o - log(y[K_i]));
  }

  template <class N>
  HEDDLE_INLINE Currents<N> currents(const N& V, const N (&y)[18], const N (&of)[of_V.columns],
                                     const N& w, const N& K1) const {
    using std::log;
    Currents<N> I;
    const N w_Ks = V - RT_F * (log_Ks_o - log(y[K_i] + p_KNa * y[Na_i]));
    I.K = (K1 + g_to * y[r] * y[s] + (g_Kr * root_K_o) * y[Xr1] * y[Xr2] + g_pK * of[pK_part]) * w +
          g_Ks * y[Xs] * y[Xs] * w_Ks;
    const N w_Na = V - RT_F * (log_Na_o - log(y[Na_i]));
    I.Na = (g_Na * y[m] * y[m] * y[m] * y[h] * y[j] + g_bNa) * w_Na;
    I.CaL = y[d] * y[f] * y[f2] * y[fCass] * (y[Ca_ss] * of[CaL_in] - of[CaL_out]);
    const N w_Ca = V - (0.5 * RT_F) * (log_Ca_o - log(y[Ca_i]));
    const N pCa_low = y[Ca_i] + K_pCa, NaK_low = y[Na_i] + K_mNa;
    const N of_both = 1 / (pCa_low * NaK_low);
    I.Ca = g_bCa * w_Ca + g_pCa * y[Ca_i] * (NaK_low * of_both);
    I.NaK = of[NaK_part] * y[Na_i] * (pCa_low * of_both);
    I.NaCa = of[NaCa_in] * (y[Na_i] * y[Na_i] * y[Na_i]) - of[NaCa_out] * y[Ca_i];
    return I;
  }

  template <class N>
  HEDDLE_INLINE void currents_of_potential(const N& V, N (&of)[of_V.columns]) const {
    using std::exp;
    const N x = F_RT * V;
    const N z = (2 * F_RT) * (V - 15), exp_z = exp(z), CaL_all = CaL * over_expm1(z, exp_z);
    of[CaL_in] = 0.25 * CaL_all * exp_z;
    of[CaL_out] = CaL_all * Ca_o;
    // Pumps and exchanger, by a = e^(-x/10).
    const N a = exp(-0.1 * x), a2 = a * a, a5 = a2 * a2 * a, a10 = a5 * a5;
    const N in = exp(gamma * x), out = in * a10;  // e^(gamma x), e^((gamma - 1) x)
    const N pK_low = 1 + exp((25 - V) * (1 / 5.98)), NaCa_low = 1 + k_sat * out;
    const N NaK_low = 1 + 0.1245 * a + 0.0353 * a10;
    const N both = NaK_low * NaCa_low, of_all = 1 / (both * pK_low), of_both = pK_low * of_all;
    of[pK_part] = both * of_all;
    of[NaK_part] = NaK * (NaCa_low * of_both);
    const N of_NaCa = NaCa * (NaK_low * of_both);
    of[NaCa_in] = Ca_o * in * of_NaCa;
    of[NaCa_out] = NaCa_of_out * out * of_NaCa;
  }

  /// Calcium in the cell, the sarcoplasmic reticulum and the subspace, each with a buffer; and the
  /// gate that depends on the subspace only.
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
    // d(free) / d(all calcium) in the presence of a buffer is (Ca + K)^2 / ((Ca + K)^2 + K Buf).
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
    {"g_Na", &TenTusscherPanfilov::g_Na, Sign::not_negative, "nS/pF"},
    {"g_K1", &TenTusscherPanfilov::g_K1, Sign::not_negative, "nS/pF"},
    {"g_to", &TenTusscherPanfilov::g_to, Sign::not_negative, "nS/pF"},
    {"g_Kr", &TenTusscherPanfilov::g_Kr, Sign::not_negative, "nS/pF"},
    {"g_Ks", &TenTusscherPanfilov::g_Ks, Sign::not_negative, "nS/pF"},
    {"g_CaL", &TenTusscherPanfilov::g_CaL, Sign::not_negative, "l/(F s)"},
    {"g_bNa", &TenTusscherPanfilov::g_bNa, Sign::not_negative, "nS/pF"},
    {"g_bCa", &TenTusscherPanfilov::g_bCa, Sign::not_negative, "nS/pF"},
    {"g_pCa", &TenTusscherPanfilov::g_pCa, Sign::not_negative, "pA/pF"},
    {"g_pK", &TenTusscherPanfilov::g_pK, Sign::not_negative, "nS/pF"},
    {"P_NaK", &TenTusscherPanfilov::P_NaK, Sign::not_negative, "pA/pF"},
    {"K_mk", &TenTusscherPanfilov::K_mk, Sign::positive, "mM"},
    {"K_mNa", &TenTusscherPanfilov::K_mNa, Sign::positive, "mM"},
    {"p_KNa", &TenTusscherPanfilov::p_KNa, Sign::not_negative},
    {"K_pCa", &TenTusscherPanfilov::K_pCa, Sign::positive, "mM"},
    {"k_NaCa", &TenTusscherPanfilov::k_NaCa, Sign::not_negative, "pA/pF"},
    {"k_sat", &TenTusscherPanfilov::k_sat, Sign::not_negative},
    {"alpha", &TenTusscherPanfilov::alpha, Sign::not_negative},
    {"gamma", &TenTusscherPanfilov::gamma},
    {"Km_Ca", &TenTusscherPanfilov::Km_Ca, Sign::positive, "mM"},
    {"Km_Nai", &TenTusscherPanfilov::Km_Nai, Sign::positive, "mM"},
    {"K_o", &TenTusscherPanfilov::K_o, Sign::positive, "mM", 1, 20},
    {"Na_o", &TenTusscherPanfilov::Na_o, Sign::positive, "mM", 50, 250},
    {"Ca_o", &TenTusscherPanfilov::Ca_o, Sign::positive, "mM", 0.2, 10},
    {"V_leak", &TenTusscherPanfilov::V_leak, Sign::not_negative, "1/ms"},
    {"V_maxup", &TenTusscherPanfilov::V_maxup, Sign::not_negative, "mM/ms"},
    {"V_rel", &TenTusscherPanfilov::V_rel, Sign::not_negative, "1/ms"},
    {"V_xfer", &TenTusscherPanfilov::V_xfer, Sign::not_negative, "1/ms"},
    {"K_up", &TenTusscherPanfilov::K_up, Sign::positive, "mM"},
    {"k1_prime", &TenTusscherPanfilov::k1_prime, Sign::not_negative, "1/(mM2 ms)"},
    {"k2_prime", &TenTusscherPanfilov::k2_prime, Sign::not_negative, "1/(mM ms)"},
    {"k3", &TenTusscherPanfilov::k3, Sign::positive, "1/ms"},
    {"k4", &TenTusscherPanfilov::k4, Sign::not_negative, "1/ms"},
    {"EC", &TenTusscherPanfilov::EC, Sign::positive, "mM"},
    {"max_sr", &TenTusscherPanfilov::max_sr, Sign::positive},
    {"min_sr", &TenTusscherPanfilov::min_sr, Sign::positive},
    {"Buf_c", &TenTusscherPanfilov::Buf_c, Sign::not_negative, "mM"},
    {"K_buf_c", &TenTusscherPanfilov::K_buf_c, Sign::positive, "mM"},
    {"Buf_sr", &TenTusscherPanfilov::Buf_sr, Sign::not_negative, "mM"},
    {"K_buf_sr", &TenTusscherPanfilov::K_buf_sr, Sign::positive, "mM"},
    {"Buf_ss", &TenTusscherPanfilov::Buf_ss, Sign::not_negative, "mM"},
    {"K_buf_ss", &TenTusscherPanfilov::K_buf_ss, Sign::positive, "mM"},
    {"Cm", &TenTusscherPanfilov::Cm, Sign::not_negative, "nF"},
    {"V_c", &TenTusscherPanfilov::V_c, Sign::positive, "nl"},
    {"V_sr", &TenTusscherPanfilov::V_sr, Sign::positive, "nl"},
    {"V_ss", &TenTusscherPanfilov::V_ss, Sign::positive, "nl"},
    {"T", &TenTusscherPanfilov::T, Sign::positive, "K", 273, 320},
}};

}  // namespace heddle::heart
