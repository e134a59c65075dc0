// Aliev and Panfilov's and FitzHugh and Nagumo's models against the classical Runge-Kutta method in
// long double, with the equations as their authors write them.
#include <gtest/gtest.h>

#include <array>
#include <cmath>

#include "single_cell.hpp"

namespace heddle::heart::test::two_variables {
namespace {

using Real = long double;
using State = std::array<Real, 2>;
using Rates = State (*)(const State&);  // per unit of the model's time

/// dv/dt = -k v (v - a) (v - 1) - v w, dw/dt = eps(v, w) (-w - k v (v - b - 1)).
State aliev_panfilov(const State& y) {
  const Real k = 8, a = 0.01, b = 0.15, v = y[0], w = y[1];
  const Real eps = Real(0.002) + Real(0.2) * w / (v + Real(0.3));
  return {-k * v * (v - a) * (v - 1) - v * w, eps * (-w - k * v * (v - b - 1))};
}

/// dv/dt = c (v (1 - v) (v - a) - w), dw/dt = c e (v - g w).
State fitzhugh_nagumo(const State& y) {
  const Real c = 8, a = 0.1, e = 0.001, g = 0.5, v = y[0], w = y[1];
  return {c * (v * (1 - v) * (v - a) - w), c * e * (v - g * w)};
}

constexpr Stimulus pulse = {.start = 1, .duration = 2, .amplitude = 25};

/// V in mV and w at `end`, in steps of 1/128 ms.
State reference(Rates rates, double end) {
  const Real scale = 12.9L, step = 1 / Real(128);
  State y = {0, 0};
  for (long n = 0; n < std::lround(end * 128); ++n) {
    const Real time = static_cast<Real>(n) * step;
    const Real J = time >= 1 && time < 3 ? Real(25) / 100 : 0;
    const auto rate = [&](const State& at) {
      const State by_tau = rates(at);
      return State{by_tau[0] / scale + J, by_tau[1] / scale};
    };
    const auto moved = [&](const State& k, Real h) {
      return State{y[0] + h * k[0], y[1] + h * k[1]};
    };
    const State k1 = rate(y), k2 = rate(moved(k1, step / 2)), k3 = rate(moved(k2, step / 2));
    const State k4 = rate(moved(k3, step));
    for (int i = 0; i < 2; ++i) y[i] += step / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
  }
  return {100 * y[0] - 80, y[1]};
}

struct Model {
  const char* name;
  Rates rates;
};

class TwoVariables : public testing::TestWithParam<Model> {};

/// Euler's rule has order 1, the midpoint rule order 2.
TEST_P(TwoVariables, ConvergeToTheEquationsAtTheOrderOfTheirRule) {
  MembraneChoice choice;
  choice.model = GetParam().name;
  for (const double end : {2., 20., 150., 250.}) {  // within the stimulus, on the plateau, after it
    const State exact = reference(GetParam().rates, end);
    for (const CellRule rule : {CellRule::euler, CellRule::midpoint}) {
      const bool second = rule == CellRule::midpoint;
      State before = {};
      for (const double dt : {1. / 32, 1. / 64, 1. / 128}) {
        const Values found = values_after(choice, pulse, end, dt, rule);
        for (int i = 0; i < 2; ++i) {
          const Real off = found[i] - exact[i];
          if (dt < 1. / 32) {
            EXPECT_NEAR(static_cast<double>(before[i] / off), second ? 4 : 2, second ? 0.3 : 0.1)
                << "variable " << i << " at " << end << " ms";
          }
          if (dt == 1. / 128) {
            EXPECT_LT(std::fabs(off), (i == 0 ? 0.02 : 2e-4) * (second ? 1e-2 : 1))
                << "at " << end << " ms";
          }
          before[i] = off;
        }
      }
    }
  }
}

TEST_P(TwoVariables, RestAtTheirStart) {
  MembraneChoice choice;
  choice.model = GetParam().name;
  SingleCell cell(choice);
  const Values start = cell.values();
  for (int k = 0; k < 1000; ++k) cell.step(k, 1);
  EXPECT_EQ(cell.values(), start);
}

TEST_P(TwoVariables, AreStableAtTheirLargestStep) {
  MembraneChoice choice;
  choice.model = GetParam().name;
  for (const CellRule rule : {CellRule::euler, CellRule::midpoint}) {
    SingleCell cell(choice);
    const double dt = cell.cells.largest_step();
    EXPECT_GT(dt, 0.5);
    cell.set_stimulus({.start = 0, .duration = 2, .amplitude = 25});
    for (int k = 0; k * dt < 1000; ++k) {
      cell.step(k * dt, dt, rule);
      EXPECT_TRUE(cell.V[0] > -130 && cell.V[0] < 50) << cell.V[0];
    }
  }
}

TEST_P(TwoVariables, KnowTheirParameters) {
  MembraneChoice choice;
  choice.model = GetParam().name;
  choice.parameters = {{"t_scale", 25.8}, {"V_rest", -70}};
  const Values own =
      values_after(choice, {.start = 2, .duration = 4, .amplitude = 12.5}, 100, 0.02);
  choice.parameters.clear();
  const Values slow = values_after(choice, pulse, 50, 0.01);
  EXPECT_NEAR(own[0] - 10, slow[0], 1e-9);
  EXPECT_NEAR(own[1], slow[1], 1e-11);
}

INSTANTIATE_TEST_SUITE_P(Models, TwoVariables,
                         testing::Values(Model{"aliev-panfilov", aliev_panfilov},
                                         Model{"fitzhugh-nagumo", fitzhugh_nagumo}),
                         [](const auto& instance) {
                           return std::string(instance.param.name).substr(0, 5);
                         });

}  // namespace
}  // namespace heddle::heart::test::two_variables
