// The human ventricular cell against its published equations, in long double.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <random>

#include "single_cell.hpp"

namespace heddle::heart::test::human_ventricle {
namespace {

using Real = long double;
constexpr int gates = 12;
enum { V, Xr1, Xr2, Xs, m, h, j, d, f, f2, fCass, s, r, Rp, Cai, CaSR, CaSS, Nai, Ki, count };
using State = std::array<Real, count>;

struct Rates {
  State slope;                        // per variable
  std::array<Real, gates> end, time;  // per gate: its target, and its time constant
};

/// 1 / (1 + e^x).
Real logistic(Real x) { return 1 / (1 + std::exp(x)); }
Real bell(Real x, Real middle, Real width) {
  return std::exp(-(x - middle) * (x - middle) / width);
}

void set_gates(const State& y, int type, Rates& rates) {
  const Real v = y[V];
  const auto gate = [&](int k, Real end, Real time) {
    rates.end[k - 1] = end;
    rates.time[k - 1] = time;
    rates.slope[k] = (end - y[k]) / time;
  };
  gate(Xr1, logistic((-26 - v) / 7),
       450 * logistic((-45 - v) / 10) * 6 * logistic((v + 30) / 11.5L));
  gate(Xr2, logistic((v + 88) / 24),
       3 * logistic((-60 - v) / 20) * 1.12L * logistic((v - 60) / 20));
  gate(Xs, logistic((-5 - v) / 14),
       1400 / std::sqrt(1 + std::exp((5 - v) / 6)) * logistic((v - 35) / 15) + 80);
  gate(m, std::pow(logistic((-56.86L - v) / 9.03L), 2),
       logistic((-60 - v) / 5) * (0.1L * logistic((v + 35) / 5) + 0.1L * logistic((v - 50) / 200)));
  const bool low = v < -40;
  const Real alpha_h = low ? 0.057L * std::exp(-(v + 80) / 6.8L) : 0;
  const Real beta_h = low ? 2.7L * std::exp(0.079L * v) + 310000 * std::exp(0.3485L * v)
                          : 0.77L / 0.13L * logistic(-(v + 10.66L) / 11.1L);
  gate(h, std::pow(logistic((v + 71.55L) / 7.43L), 2), 1 / (alpha_h + beta_h));
  const Real alpha_j =
      low ? (-25428 * std::exp(0.2444L * v) - 6.948e-6L * std::exp(-0.04391L * v)) * (v + 37.78L) *
                logistic(0.311L * (v + 79.23L))
          : 0;
  const Real beta_j = low ? 0.02424L * std::exp(-0.01052L * v) * logistic(-0.1378L * (v + 40.14L))
                          : 0.6L * std::exp(0.057L * v) * logistic(-0.1L * (v + 32));
  gate(j, std::pow(logistic((v + 71.55L) / 7.43L), 2), 1 / (alpha_j + beta_j));
  gate(d, logistic((-8 - v) / 7.5L),
       (1.4L * logistic((-35 - v) / 13) + 0.25L) * 1.4L * logistic((v + 5) / 5) +
           logistic((50 - v) / 20));
  gate(f, logistic((v + 20) / 7),
       1102.5L * bell(v, -27, 225) + 200 * logistic((13 - v) / 10) + 180 * logistic((v + 30) / 10) +
           20);
  gate(f2, 0.67L * logistic((v + 35) / 7) + 0.33L,
       562 * bell(v, -27, 240) + 31 * logistic((25 - v) / 10) + 80 * logistic((v + 30) / 10));
  const Real ss = std::pow(y[CaSS] / 0.05L, 2);
  gate(fCass, 0.6L / (1 + ss) + 0.4L, 80 / (1 + ss) + 2);
  if (type == 1) {
    gate(s, logistic((v + 28) / 5), 1000 * bell(v, -67, 1000) + 8);
  } else {
    gate(s, logistic((v + 20) / 5), 85 * bell(v, -45, 320) + 5 * logistic((v - 20) / 5) + 3);
  }
  gate(r, logistic((20 - v) / 6), 9.5L * bell(v, -40, 1800) + 0.8L);
}

Rates rates_of(const State& y, int type) {
  Rates rates;
  set_gates(y, type, rates);
  const Real F = 96485.3415L, RT = 8314.472L * 310, v = y[V], x = v * F / RT;
  const Real Nao = 140, Ko = 5.4L, Cao = 2, Cm = 0.185L;
  const Real Vc = 0.016404L, Vsr = 0.001094L, Vss = 0.00005468L;
  const Real EK = RT / F * std::log(Ko / y[Ki]), ENa = RT / F * std::log(Nao / y[Nai]);
  const Real EKs = RT / F * std::log((Ko + 0.03L * Nao) / (y[Ki] + 0.03L * y[Nai]));
  const Real ECa = RT / F / 2 * std::log(Cao / y[Cai]);
  const Real aK1 = 0.1L * logistic(0.06L * (v - EK - 200));
  const Real bK1 = (3 * std::exp(0.0002L * (v - EK + 100)) + std::exp(0.1L * (v - EK - 10))) *
                   logistic(-0.5L * (v - EK));
  const Real iK1 = 5.405L * aK1 / (aK1 + bK1) * (v - EK);
  const Real ito = (type == 1 ? 0.073L : 0.294L) * y[r] * y[s] * (v - EK);
  const Real iKr = 0.153L * y[Xr1] * y[Xr2] * (v - EK);
  const Real iKs = (type == 2 ? 0.098L : 0.392L) * y[Xs] * y[Xs] * (v - EKs);
  const Real ipK = 0.0146L * (v - EK) * logistic((25 - v) / 5.98L);
  const Real iNa = 14.838L * std::pow(y[m], 3) * y[h] * y[j] * (v - ENa);
  const Real ibNa = 0.00029L * (v - ENa), ibCa = 0.000592L * (v - ECa);
  const Real ipCa = 0.1238L * y[Cai] / (y[Cai] + 0.0005L);
  const Real iCaL = 0.0000398L * y[d] * y[f] * y[f2] * y[fCass] * 4 * (v - 15) * F * F / RT *
                    (0.25L * y[CaSS] * std::exp(2 * (v - 15) * F / RT) - Cao) /
                    std::expm1(2 * (v - 15) * F / RT);
  const Real iNaK = 2.724L * Ko / (Ko + 1) * y[Nai] / (y[Nai] + 40) /
                    (1 + 0.1245L * std::exp(-0.1L * x) + 0.0353L * std::exp(-x));
  const Real iNaCa =
      1000 *
      (std::exp(0.35L * x) * std::pow(y[Nai], 3) * Cao -
       std::exp(-0.65L * x) * std::pow(Nao, 3) * y[Cai] * 2.5L) /
      ((std::pow(87.5L, 3) + std::pow(Nao, 3)) * (1.38L + Cao) * (1 + 0.1L * std::exp(-0.65L * x)));
  const Real ileak = 0.00036L * (y[CaSR] - y[Cai]);
  const Real iup = 0.006375L / (1 + std::pow(0.00025L / y[Cai], 2));
  const Real ixfer = 0.0038L * (y[CaSS] - y[Cai]);
  const Real kcasr = 2.5L - 1.5L / (1 + std::pow(1.5L / y[CaSR], 2));
  const Real k1 = 0.15L / kcasr, k2 = 0.045L * kcasr, ss2 = y[CaSS] * y[CaSS];
  const Real irel = 0.102L * k1 * ss2 * y[Rp] / (0.06L + k1 * ss2) * (y[CaSR] - y[CaSS]);
  const auto unbound = [](Real calcium, Real buffer, Real K) {
    return 1 / (1 + buffer * K / std::pow(calcium + K, 2));
  };
  State& slope = rates.slope;
  slope[V] = -(iK1 + ito + iKr + iKs + ipK + iNa + ibNa + iCaL + ibCa + ipCa + iNaK + iNaCa);
  slope[Rp] = -k2 * y[CaSS] * y[Rp] + 0.005L * (1 - y[Rp]);
  slope[Cai] = unbound(y[Cai], 0.2L, 0.001L) *
               ((ileak - iup) * Vsr / Vc + ixfer - (ibCa + ipCa - 2 * iNaCa) * Cm / (2 * Vc * F));
  slope[CaSR] = unbound(y[CaSR], 10, 0.3L) * (iup - irel - ileak);
  slope[CaSS] = unbound(y[CaSS], 0.4L, 0.00025L) *
                (-iCaL * Cm / (2 * Vss * F) + irel * Vsr / Vss - ixfer * Vc / Vss);
  slope[Nai] = -(iNa + ibNa + 3 * iNaK + 3 * iNaCa) * Cm / (Vc * F);
  slope[Ki] = -(iK1 + ito + iKr + iKs + ipK - 2 * iNaK) * Cm / (Vc * F);
  return rates;
}

const char* const types[3] = {"epicardial", "endocardial", "mid-myocardial"};

MembraneChoice cell_of(int type) {
  MembraneChoice choice;
  choice.type = types[type];
  return choice;
}

State state_of(const Values& values) {
  State y;
  std::copy(values.begin(), values.end(), y.begin());
  return y;
}

/// Steps of gates at constant rates, and Euler steps, by the equations above.
TEST(TenTusscherPanfilov, StepsAreThoseOfTheEquations) {
  std::mt19937 random(3);
  std::uniform_real_distribution<double> of_gate(0.01, 0.99), around(0.5, 2), voltage(-100, 70);
  for (int type = 0; type < 3; ++type) {
    SingleCell cell(cell_of(type));
    const Values rest = cell.values();
    for (int trial = 0; trial < 300; ++trial) {
      Values values = rest;
      values[V] = voltage(random);
      if (trial % 10 == 0) values[V] = 15 + (trial - 150) * 1e-3;  // where I_CaL is 0 / 0
      if (values[V] == 15) values[V] = std::nextafter(15, 16);
      for (int k = Xr1; k < Rp; ++k) values[k] = of_gate(random);
      for (int k = Rp; k < count; ++k) values[k] *= around(random);
      const double dt = 0.02;
      const State before = state_of(values);
      const Rates rates = rates_of(before, type);
      cell.set_values(values);
      cell.step(0, dt);
      const State after = state_of(cell.values());
      for (int k = 0; k < count; ++k) {
        const bool is_gate = k >= Xr1 && k < Rp;
        const Real change =
            is_gate ? (before[k] - rates.end[k - 1]) * std::expm1(-Real(dt) / rates.time[k - 1])
                    : Real(dt) * rates.slope[k];
        // A gate's rounding scales with its target; other changes are sums that partly cancel.
        const Real scale =
            std::fabs(before[k]) + (is_gate ? rates.end[k - 1] : 20 * std::fabs(change));
        EXPECT_LE(static_cast<double>(std::fabs(after[k] - before[k] - change) / scale), 2e-15)
            << "variable " << k << " at " << values[V] << " mV, type " << type;
      }
    }
  }
}

TEST(TenTusscherPanfilov, TheCalciumCurrentHasItsLimit) {
  SingleCell cell(cell_of(0));
  const Values rest = cell.values();
  double last = 0;
  for (const double v : {15 - 1e-9, 15., 15 + 1e-9}) {
    Values values = rest;
    values[V] = v;
    values[d] = 0.9;
    cell.set_values(values);
    cell.step(0, 0.02);
    if (v >= 15) {
      EXPECT_NEAR(cell.V[0], last, 1e-8);
    }
    last = cell.V[0];
    EXPECT_TRUE(std::isfinite(last));
  }
}

/// Runge-Kutta in steps of 1/1024 ms, which the speed of m at rest requires.
State reference(double end) {
  State y = state_of(SingleCell(cell_of(0)).values());
  const Real step = 1 / Real(1024);
  for (long n = 0; n < std::lround(end * 1024); ++n) {
    const Real J = n < 1024 ? 50 : 0;
    const auto slope = [&](const State& at) {
      State k = rates_of(at, 0).slope;
      k[V] += J;
      return k;
    };
    const auto moved = [&](const State& k, Real by) {
      State at = y;
      for (int i = 0; i < count; ++i) at[i] += by * k[i];
      return at;
    };
    const State k1 = slope(y), k2 = slope(moved(k1, step / 2)), k3 = slope(moved(k2, step / 2));
    const State k4 = slope(moved(k3, step));
    for (int i = 0; i < count; ++i) y[i] += step / 6 * (k1[i] + 2 * k2[i] + 2 * k3[i] + k4[i]);
  }
  return y;
}

TEST(TenTusscherPanfilov, ConvergesToTheEquationsAtOrderOne) {
  const State exact = reference(8);
  Values before;
  for (const double dt : {1. / 128, 1. / 256, 1. / 512}) {
    const Values found =
        values_after(cell_of(0), {.start = 0, .duration = 1, .amplitude = 50}, 8, dt);
    for (int k = 0; k < count && !before.empty(); ++k) {
      const Real ratio = (before[k] - exact[k]) / (found[k] - exact[k]);
      EXPECT_NEAR(static_cast<double>(ratio), 2, 0.1) << "variable " << k << " at dt " << dt;
    }
    before = found;
  }
  EXPECT_LT(std::fabs(before[V] - static_cast<double>(exact[V])), 0.03);
}

/// The midpoint rule leaves a fourth of the error of Euler's, or less, for the same work.
TEST(TenTusscherPanfilov, IsNearerToTheEquationsByTheMidpoint) {
  const State exact = reference(8);
  const Stimulus pulse = {.start = 0, .duration = 1, .amplitude = 50};
  for (const double dt : {1. / 16, 1. / 32, 1. / 64}) {
    const Values once = values_after(cell_of(0), pulse, 8, dt / 2);
    const Values twice = values_after(cell_of(0), pulse, 8, dt, CellRule::midpoint);
    for (int k = 0; k < count; ++k) {
      EXPECT_LT(std::fabs(twice[k] - exact[k]), 0.25 * std::fabs(once[k] - exact[k]))
          << "variable " << k << " at dt " << dt;
    }
  }
}

struct ActionPotential {
  double rest, peak, apd90, steepest;
};

/// The third of three action potentials, one per second.
ActionPotential third_action_potential(int type) {
  const double dt = 0.02;
  SingleCell cell(cell_of(type));
  cell.set_stimulus({.start = 0, .duration = 1, .amplitude = 50, .period = 1000, .count = 3});
  ActionPotential found = {.rest = 0, .peak = -100, .apd90 = 0, .steepest = 0};
  std::vector<double> trace;
  for (int k = 0; k < 150000; ++k) {
    const double v = cell.V[0];
    if (k == 100000) found.rest = v;
    cell.step(k * dt, dt);
    if (k < 100000) continue;
    trace.push_back(cell.V[0]);
    found.peak = std::max(found.peak, cell.V[0]);
    found.steepest = std::max(found.steepest, (cell.V[0] - v) / dt);
  }
  const double repolarized = found.peak - 0.9 * (found.peak - found.rest);
  const auto up = std::find_if(trace.begin(), trace.end(), [](double v) { return v > 0; });
  const auto down = std::find_if(up, trace.end(), [&](double v) { return v < repolarized; });
  found.apd90 = static_cast<double>(down - up) * dt;
  return found;
}

/// At 1 Hz the authors' cells have a resting potential of about -85 mV (CellML's states of rest)
/// and action potentials that last some 300 ms, about 100 ms more in mid-myocardial cells, whose
/// g_Ks is a fourth (ten Tusscher et al. 2004, 2006; their restitution curves).
TEST(TenTusscherPanfilov, ActionPotentialsAreThoseThatArePublished) {
  const double apd[3] = {305, 298, 390};
  for (int type = 0; type < 3; ++type) {
    const ActionPotential found = third_action_potential(type);
    EXPECT_NEAR(found.rest, -85.7, 0.5) << types[type];
    EXPECT_NEAR(found.peak, 39.5, 2) << types[type];
    EXPECT_NEAR(found.apd90, apd[type], 8) << types[type];
    EXPECT_GT(found.steepest, 250) << types[type];
  }
}

TEST(TenTusscherPanfilov, RestsNearItsStart) {
  for (int type = 0; type < 3; ++type) {
    SingleCell cell(cell_of(type));
    const double start = cell.V[0];
    for (int k = 0; k < 10000; ++k) cell.step(0.05 * k, 0.05);
    EXPECT_NEAR(cell.V[0], start, 1) << types[type];
  }
}

/// Includes the strongest stimuli that tissue gets.
TEST(TenTusscherPanfilov, IsStableAtItsLargestStep) {
  for (int run = 0; run < 6; ++run) {
    const int type = run / 2;
    SingleCell cell(cell_of(type));
    const double dt = cell.cells.largest_step();
    cell.set_stimulus({.start = 0, .duration = 2, .amplitude = 35.7});
    for (int k = 0; k * dt < 600; ++k) {
      cell.step(k * dt, dt, run % 2 == 0 ? CellRule::euler : CellRule::midpoint);
      const Values values = cell.values();
      // Below the reversal potential of sodium, except for the stimulus of one step.
      EXPECT_TRUE(values[V] > -95 && values[V] < 75 + 35.7 * dt) << values[V];
      for (int g = 0; g < count; ++g) {
        if (TenTusscherPanfilov::variables[g].is_gate) {
          EXPECT_TRUE(values[g] >= 0 && values[g] <= 1) << g;
        }
      }
      for (int c = Rp; c < count; ++c) EXPECT_GT(values[c], 0) << c;
    }
    EXPECT_LT(cell.V[0], -80) << types[type];
  }
}

}  // namespace
}  // namespace heddle::heart::test::human_ventricle
