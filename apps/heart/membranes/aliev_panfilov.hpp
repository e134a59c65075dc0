// R. R. Aliev and A. V. Panfilov, A simple two-variable model of cardiac excitation, Chaos,
// Solitons and Fractals 7 (1996), in the notation and with the values of S. Goktepe and E. Kuhl,
// Computational modeling of cardiac electrophysiology, Int. J. Numer. Meth. Engng 79 (2009).
#pragma once

#include "membrane_model.hpp"

namespace heddle::heart {

/// With v = (V - V_rest) / V_scale and tau = t / t_scale:
///     dv/dtau = c v (v - alpha) (1 - v) - r v
///     dr/dtau = (gamma + mu1 r / (mu2 + v)) (-r - c v (v - b - 1))
struct AlievPanfilov {
  double alpha = 0.01, b = 0.15, c = 8, gamma = 0.002, mu1 = 0.2, mu2 = 0.3;
  double V_rest = -80, V_scale = 100, t_scale = 12.9;

  static constexpr std::string_view name = "aliev-panfilov";
  static constexpr std::array<std::string_view, 1> types = {"ventricular"};
  static constexpr std::array<Variable, 2> variables = {{{"V"}, {"r"}}};
  static const std::array<Parameter<AlievPanfilov>, 9> parameters;
  static AlievPanfilov of_type(int) { return {}; }
  double start(int k) const { return k == 0 ? V_rest : 0; }

  /// -d(dv/dtau)/dv is below 2 c if v is at most 1 and r at most 2, as in an action potential.
  double largest_step() const { return t_scale / c; }

  template <class N>
  HEDDLE_INLINE void advance(const N& V0, const N (&state0)[1], N& V, N (&state)[1], const N& J,
                             double dt) const {
    const N v = (V - V_rest) * (1 / V_scale), r = state[0];
    const double step = dt / t_scale;
    const N rate = c * v * (v - alpha) * (1 - v) - r * v;
    state[0] = state0[0] + step * ((gamma + mu1 * r / (mu2 + v)) * (-r - c * v * (v - (b + 1))));
    V = V0 + (step * V_scale) * rate + dt * J;
  }
};

inline constexpr std::array<Parameter<AlievPanfilov>, 9> AlievPanfilov::parameters = {{
    {"alpha", &AlievPanfilov::alpha},
    {"b", &AlievPanfilov::b},
    {"c", &AlievPanfilov::c, Sign::positive},
    {"gamma", &AlievPanfilov::gamma},
    {"mu1", &AlievPanfilov::mu1},
    {"mu2", &AlievPanfilov::mu2, Sign::positive},
    {"V_rest", &AlievPanfilov::V_rest, Sign::any, "mV", -120, 0},
    {"V_scale", &AlievPanfilov::V_scale, Sign::positive, "mV", 20, 200},
    {"t_scale", &AlievPanfilov::t_scale, Sign::positive, "ms", 0.5, 100},
}};

}  // namespace heddle::heart
