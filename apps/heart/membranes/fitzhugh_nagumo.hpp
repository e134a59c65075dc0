// R. FitzHugh, Biophysical Journal 1 (1961), and J. Nagumo, S. Arimoto and S. Yoshizawa, Proc. IRE
// 50 (1962), as in J. Keener and J. Sneyd, Mathematical Physiology, chapter 5: a cubic whose
// resting state is 0. Time is scaled like that of `AlievPanfilov`, and epsilon makes an action
// potential from rest last about 280 ms.
#pragma once

#include "membrane_model.hpp"

namespace heddle::heart {

/// With v = (V - V_rest) / V_scale and tau = t / t_scale:
///     dv/dtau = c (v (v - alpha) (1 - v) - w)
///     dw/dtau = c epsilon (v - gamma w)
struct FitzHughNagumo {
  double alpha = 0.1, c = 8, epsilon = 0.001, gamma = 0.5;
  double V_rest = -80, V_scale = 100, t_scale = 12.9;

  static constexpr std::string_view name = "fitzhugh-nagumo";
  static constexpr std::array<std::string_view, 1> types = {"excitable"};
  static constexpr std::array<Variable, 2> variables = {{{"V"}, {"w"}}};
  static const std::array<Parameter<FitzHughNagumo>, 7> parameters;
  static FitzHughNagumo of_type(int) { return {}; }
  double start(int k) const { return k == 0 ? V_rest : 0; }

  /// -d(dv/dtau)/dv is below 2.35 c for v between -0.4 and 1.3, as in an action potential.
  double largest_step() const { return 0.85 * t_scale / c; }

  template <class N>
  HEDDLE_INLINE void advance(const N& V0, const N (&state0)[1], N& V, N (&state)[1], const N& J,
                             double dt) const {
    const N v = (V - V_rest) * (1 / V_scale), w = state[0];
    const double step = dt / t_scale * c;
    state[0] = state0[0] + (step * epsilon) * (v - gamma * w);
    V = V0 + (step * V_scale) * (v * (v - alpha) * (1 - v) - w) + dt * J;
  }
};

inline constexpr std::array<Parameter<FitzHughNagumo>, 7> FitzHughNagumo::parameters = {{
    {"alpha", &FitzHughNagumo::alpha},
    {"c", &FitzHughNagumo::c, Sign::positive},
    {"epsilon", &FitzHughNagumo::epsilon},
    {"gamma", &FitzHughNagumo::gamma},
    {"V_rest", &FitzHughNagumo::V_rest, Sign::any, "mV", -120, 0},
    {"V_scale", &FitzHughNagumo::V_scale, Sign::positive, "mV", 20, 200},
    {"t_scale", &FitzHughNagumo::t_scale, Sign::positive, "ms", 0.5, 100},
}};

}  // namespace heddle::heart
