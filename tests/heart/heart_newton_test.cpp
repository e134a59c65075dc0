// Aliev and Panfilov's tissue by Newton's method: quadratic convergence, the tangent against
// differences, cells against their own backward Euler, and properties of waves and diffusion.
#include <gtest/gtest.h>

#include <algorithm>
#include <array>
#include <cmath>
#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "heddle/problems.hpp"
#include "heddle/tools/points.hpp"
#include "newton/adaptive_steps.hpp"
#include "support/expect_error.hpp"

namespace heart_newton {
namespace {

using namespace heddle;
using namespace heddle::heart;
using heddle::test::expect_error;

/// A solid with fibres along x; its nodes scaled to mm.
struct Solid {
  std::vector<Point> position;
  std::vector<std::array<Index, 4>> tetrahedron;
  std::vector<Point> fibre;
  std::vector<std::uint16_t> region;
  mutable std::vector<NewtonRegion> regions;

  Solid(Index size, double millimetres) {
    const TetrahedronMesh solid = random_solid(size, 5);
    position.reserve(solid.position.size());
    for (const Point& p : solid.position) {
      position.push_back({millimetres * p[0], millimetres * p[1], millimetres * p[2]});
    }
    tetrahedron.assign(solid.tetrahedron.begin(), solid.tetrahedron.end());
    fibre.assign(tetrahedron.size(), {1, 0, 0});
    region.assign(tetrahedron.size(), 0);
  }
  /// A view with one region, valid until the next view.
  NewtonTissue view(double across = 0.05, double along = 0.2,
                    const AlievPanfilov& cell = {}) const {
    regions = {{{cell}, across, along}};
    return {position, tetrahedron, fibre, regions, region};
  }
  std::vector<double> of_nodes(const auto& value) const {
    std::vector<double> values;
    values.reserve(position.size());
    for (const Point& p : position) values.push_back(value(p));
    return values;
  }
};

NewtonOptions step_of(double step) {
  NewtonOptions options;
  options.step = step;
  return options;
}

/// A front in which all terms are significant.
double front(const Point& p) { return -80 + 100 / (1 + std::exp(4 * (p[0] - 1.5))); }

TEST(NewtonTissue, ConvergesQuadratically) {
  const Solid tissue(600, 4);
  for (const char* plan : {"CSR", "K1rs"}) {
    SCOPED_TRACE(plan);
    NewtonScheme scheme(tissue.view(), parse_plan(plan), Device::cpu(2), step_of(0.8));
    scheme.set_potential(tissue.of_nodes(front));
    for (int i = 0; i < 3; ++i) {
      const NewtonStep step = scheme.advance();
      ASSERT_TRUE(step.converged);
      const std::vector<double>& r = step.residual;
      ASSERT_GE(r.size(), 4U);
      ASSERT_LE(r.size(), 6U);
      // |R'| <= C |R|^2 / |R_0| with one C, down to rounding.
      for (std::size_t k = 0; k + 1 < r.size(); ++k) {
        if (r[k + 1] <= 1e-12 * r[0]) continue;
        EXPECT_LE(r[0] * r[k + 1], 0.1 * r[k] * r[k]) << k;
      }
      EXPECT_LE(r.back(), 1e-10 * r[0]);
    }
  }
}

/// Compares the tangent times a direction with central differences of the residual.
TEST(NewtonTissue, HasAConsistentTangent) {
  const Solid tissue(200, 3);
  const auto bent = [](const Point& p) { return std::sin(3 * p[0] + p[1]) + 0.3 * p[2]; };
  const std::vector<double> start = tissue.of_nodes(front), d = tissue.of_nodes(bent);
  const auto scheme_at = [&](double shift, int iterations) {
    NewtonOptions options = step_of(0.5);
    options.max_iterations = iterations;
    auto scheme =
        std::make_unique<NewtonScheme>(tissue.view(), parse_plan("CSR"), Device::cpu(), options);
    scheme->set_potential(start);
    std::vector<double> guess = start;
    for (std::size_t v = 0; v < guess.size(); ++v) guess[v] += 7 * d[v] + shift * d[v];
    EXPECT_FALSE(scheme->advance(guess).converged);
    return scheme;
  };
  constexpr double shift = 1e-3;  // mV
  const auto above = scheme_at(shift, 0), below = scheme_at(-shift, 0), at = scheme_at(0, 1);
  Field<real<double>> direction = at->tangent().field(), image = direction;
  for (Index v = 0; v < direction.size(); ++v) direction.set(v, {{d[static_cast<std::size_t>(v)]}});
  at->tangent().apply(1, direction.view(), 0, image.view(), Stream{1});
  double error = 0, size = 0;
  for (Index v = 0; v < image.size(); ++v) {
    const double difference =
        (above->residual()[v].component[0] - below->residual()[v].component[0]) / (2 * shift);
    error += std::pow(image[v].component[0] - difference, 2);
    size += std::pow(difference, 2);
  }
  EXPECT_LE(std::sqrt(error / size), 1e-8);
}

/// Backward Euler for the two equations of one cell, by Newton's method in long double for both at
/// once.
struct OneCell {
  long double phi, r;

  void advance(const AlievPanfilov& p, long double step) {
    const long double phi_before = phi, r_before = r;
    for (int i = 0; i < 60; ++i) {
      const auto f = [&](long double v, long double w) {
        return std::array<long double, 2>{
            v - phi_before - step * (p.c * v * (v - p.alpha) * (1 - v) - w * v),
            w - r_before -
                step * (p.gamma + p.mu1 * w / (p.mu2 + v)) * (-w - p.c * v * (v - p.b - 1))};
      };
      constexpr long double h = 1e-9L;
      const auto F = f(phi, r), by_phi = f(phi + h, r), by_r = f(phi, r + h);
      const long double a = (by_phi[0] - F[0]) / h, b = (by_r[0] - F[0]) / h;
      const long double c = (by_phi[1] - F[1]) / h, d = (by_r[1] - F[1]) / h;
      const long double determinant = a * d - b * c;
      phi -= (d * F[0] - b * F[1]) / determinant;
      r -= (a * F[1] - c * F[0]) / determinant;
    }
  }
};

TEST(NewtonTissue, TakesUniformTissueAsOneCell) {
  const Solid tissue(60, 2);
  NewtonScheme scheme(tissue.view(), parse_plan("K1rs"), Device::cpu(), step_of(1));
  scheme.set_potential(std::vector<double>(tissue.position.size(), -60));
  OneCell cell{0.2L, 0};
  double most = 0;
  for (int i = 0; i < 450; ++i) {
    ASSERT_TRUE(scheme.advance().converged) << i;
    cell.advance({}, 1 / 12.9L);
    const std::vector<double> potential = scheme.potential(), recovery = scheme.recovery();
    for (const double v : potential) {
      ASSERT_NEAR(v, static_cast<double>(100 * cell.phi - 80), 1e-7) << i;
    }
    for (const double r : recovery) ASSERT_NEAR(r, static_cast<double>(cell.r), 1e-9) << i;
    most = std::max(most, potential[0]);
  }
  // The cell fired, and is at rest again.
  EXPECT_GT(most, 10);
  EXPECT_LT(scheme.potential()[0], -75);
}

TEST(NewtonTissue, KeepsWhatOnlyDiffuses) {
  const Solid tissue(300, 3);
  AlievPanfilov none;
  none.c = none.gamma = none.mu1 = 0;
  NewtonScheme scheme(tissue.view(0.05, 0.2, none), parse_plan("pJDS"), Device::cpu(), step_of(2));
  scheme.set_potential(tissue.of_nodes(front));
  const auto integral = [&] {
    const std::vector<double> V = scheme.potential();
    double sum = 0;
    for (const auto& corner : tissue.tetrahedron) {
      std::array<Point, 4> p{};
      double mean = 0;
      for (std::size_t a = 0; a < 4; ++a) {
        p[a] = tissue.position[static_cast<std::size_t>(corner[a])];
        mean += V[static_cast<std::size_t>(corner[a])] / 4;
      }
      sum += mean * points::volume6(p[0], p[1], p[2], p[3]) / 6;
    }
    return sum;
  };
  const double before = integral();
  for (int i = 0; i < 400; ++i) ASSERT_TRUE(scheme.advance().converged) << i;
  EXPECT_NEAR(integral(), before, 1e-9 * std::abs(before));
  const std::vector<double> V = scheme.potential();
  EXPECT_LT(*std::max_element(V.begin(), V.end()) - *std::min_element(V.begin(), V.end()), 0.1);
}

TEST(NewtonTissue, CarriesAWaveFromItsStimulus) {
  const Solid tissue(600, 8);
  std::vector<double> arrival;
  for (const double step : {0.4, 0.2, 0.1}) {
    NewtonScheme scheme(tissue.view(0.1, 0.1), parse_plan("K1rs"), Device::cpu(2), step_of(step));
    const std::vector<double> stimulus =
        tissue.of_nodes([](const Point& p) { return p[0] < 2 ? 20.0 : 0.0; });
    double front_at = -1;
    for (int i = 0; front_at < 0 && i * step < 150; ++i) {
      scheme.set_stimulus(i * step < 4 ? stimulus : std::vector<double>(stimulus.size()));
      ASSERT_TRUE(scheme.advance().converged);
      const std::vector<double> V = scheme.potential();
      bool all = true;
      for (std::size_t v = 0; v < V.size(); ++v)
        all = all && (tissue.position[v][0] < 6 || V[v] > -40);
      if (all) front_at = (i + 1) * step;
    }
    ASSERT_GT(front_at, 0) << step;
    arrival.push_back(front_at);
  }
  // The arrival is of first order in the step: halving the step halves the change.
  EXPECT_LT(std::abs(arrival[2] - arrival[1]), 0.8 * std::abs(arrival[1] - arrival[0]));
}

/// Tissue at rest has no rounding, however fine the mesh and long the step.
TEST(NewtonTissue, StaysAtRest) {
  Solid tissue(800, 0.3);
  AlievPanfilov other;
  other.V_rest = -85.23;
  for (const AlievPanfilov& cell : {AlievPanfilov(), other}) {
    NewtonScheme scheme(tissue.view(0.2, 0.5, cell), parse_plan("CSR"), Device::cpu(),
                        step_of(4.8));
    for (int i = 0; i < 3; ++i) {
      const NewtonStep step = scheme.advance();
      EXPECT_TRUE(step.converged);
      EXPECT_EQ(step.residual.size(), 1U);
    }
    for (const double V : scheme.potential()) EXPECT_EQ(V, cell.V_rest);
  }
  // Where regions meet, a node starts like the last of them, and potentials move back and forth.
  for (std::size_t e = 0; e < tissue.region.size(); ++e) tissue.region[e] = e % 2;
  const std::vector<NewtonRegion> regions = {{{}, 0.2, 0.5}, {{other}, 0.2, 0.5}};
  NewtonScheme mixed({tissue.position, tissue.tetrahedron, tissue.fibre, regions, tissue.region},
                     parse_plan("CSR"), Device::cpu(), step_of(1));
  for (int i = 0; i < 10; ++i) ASSERT_TRUE(mixed.advance().converged) << i;
  for (const double V : mixed.potential()) EXPECT_TRUE(V > -86 && V < -79) << V;
}

/// Two adjacent pieces each behave like separate tissue.
TEST(NewtonTissue, RegionsHaveTheirOwnCells) {
  AlievPanfilov slow;
  slow.t_scale = 25;
  slow.V_rest = -70;
  slow.V_scale = 90;
  const std::vector<NewtonRegion> regions = {{{}, 0.05, 0.2}, {{slow}, 0.1, 0.1}};
  Solid piece(200, 3);
  const auto potential_of = [&](const Solid& tissue) {
    const NewtonTissue given = {tissue.position, tissue.tetrahedron, tissue.fibre, regions,
                                tissue.region};
    NewtonScheme scheme(given, parse_plan("K1rs"), Device::cpu(), step_of(0.5));
    scheme.set_stimulus(tissue.of_nodes([](const Point& p) { return p[1] < 1 ? 30.0 : 0; }));
    for (int i = 0; i < 8; ++i) EXPECT_TRUE(scheme.advance().converged);
    return scheme.potential();
  };
  Solid both = piece;
  const auto nodes = static_cast<Index>(piece.position.size());
  for (const Point& p : piece.position) both.position.push_back({p[0] + 9, p[1], p[2]});
  for (std::array<Index, 4> corner : piece.tetrahedron) {
    for (Index& v : corner) v += nodes;
    both.tetrahedron.push_back(corner);
  }
  both.fibre.resize(both.tetrahedron.size(), {1, 0, 0});
  both.region.resize(both.tetrahedron.size(), 1);
  std::vector<double> expected = potential_of(piece);
  piece.region.assign(piece.region.size(), 1);
  const std::vector<double> second = potential_of(piece);
  EXPECT_GT(std::abs(expected[0] - second[0]), 5);
  expected.insert(expected.end(), second.begin(), second.end());
  const std::vector<double> found = potential_of(both);
  for (std::size_t v = 0; v < found.size(); ++v) EXPECT_NEAR(found[v], expected[v], 1e-7) << v;
}

/// The estimated error of a step, next to the same step in 256 parts.
TEST(NewtonTissue, EstimatesTheErrorOfAStep) {
  const Solid tissue(600, 4);
  for (const double before : {0.01, 0.02}) {
    SCOPED_TRACE(before);
    constexpr double step = 0.01;
    constexpr int parts = 256;
    NewtonScheme scheme(tissue.view(), parse_plan("K1rs"), Device::cpu(2), step_of(step));
    NewtonScheme fine(tissue.view(), parse_plan("K1rs"), Device::cpu(2), step_of(step / parts));
    scheme.set_potential(tissue.of_nodes(front));
    // The kinks of the first potential have gone by then.
    for (int i = 0; i < 60; ++i) ASSERT_TRUE(scheme.advance().converged);
    constexpr double any_error = HUGE_VAL;
    AdaptiveSteps steps(scheme, before, any_error, 1);
    EXPECT_EQ(steps.try_step(1), 1);
    scheme.keep_step();
    fine.set_potential(scheme.potential());
    fine.set_recovery(scheme.recovery());
    for (int i = 0; i < parts; ++i) ASSERT_TRUE(fine.advance().converged);
    ASSERT_TRUE(scheme.try_step(step));
    const double estimated = steps.error_of(step);
    const std::vector<double> start = fine.potential(), found = scheme.potential();
    double error = 0;
    for (std::size_t v = 0; v < found.size(); ++v) {
      error = std::max(error, std::abs(found[v] - start[v]));
    }
    EXPECT_GT(error, 1e-4);
    EXPECT_NEAR(estimated, error, 0.1 * error);
  }
}

/// Solved by another matrix, to which the entries are copied.
TEST(NewtonTissue, HasTheSameBitsWhereTheCpuAssembles) {
  const Solid tissue(500, 4);
  for (const char* plan : {"CSR", "K1", "K2rs"}) {
    SCOPED_TRACE(plan);
    std::vector<std::vector<double>> potentials;
    for (const bool on_cpu : {false, true}) {
      NewtonOptions options = step_of(0.5);
      options.assembly_on_cpu = on_cpu;
      NewtonScheme scheme(tissue.view(), parse_plan(plan), Device::cpu(2), options);
      scheme.set_potential(tissue.of_nodes(front));
      for (int i = 0; i < 4; ++i) ASSERT_TRUE(scheme.advance().converged);
      EXPECT_GT(scheme.product_seconds(), 0);
      potentials.push_back(scheme.potential());
    }
    EXPECT_EQ(potentials[0], potentials[1]);
  }
}

/// A step that is undone leaves everything as it was.
TEST(NewtonTissue, UndoesAStep) {
  const Solid tissue(300, 3);
  NewtonScheme once(tissue.view(), parse_plan("K1rs"), Device::cpu(), step_of(0.5));
  NewtonScheme again(tissue.view(), parse_plan("K1rs"), Device::cpu(), step_of(0.5));
  for (NewtonScheme* scheme : {&once, &again}) scheme->set_potential(tissue.of_nodes(front));
  for (int i = 0; i < 3; ++i) {
    ASSERT_TRUE(again.try_step(2));
    EXPECT_NE(again.potential(), once.potential());
    again.undo_step();
    EXPECT_EQ(again.potential(), once.potential());
    ASSERT_TRUE(again.try_step(0.5));
    again.keep_step();
    ASSERT_TRUE(once.advance().converged);
    EXPECT_EQ(again.potential(), once.potential());
    EXPECT_EQ(again.recovery(), once.recovery());
  }
}

TEST(NewtonTissue, HasTheSameBitsForAnyNumberOfThreads) {
  const Solid tissue(1500, 6);
  std::vector<std::vector<double>> potentials;
  for (const int threads : {1, 3}) {
    NewtonScheme scheme(tissue.view(), parse_plan("K1rs"), Device::cpu(threads), step_of(0.5));
    scheme.set_potential(tissue.of_nodes(front));
    for (int i = 0; i < 4; ++i) ASSERT_TRUE(scheme.advance().converged);
    potentials.push_back(scheme.potential());
  }
  EXPECT_EQ(potentials[0], potentials[1]);
}

TEST(NewtonTissue, RefusesWhatIsNone) {
  const Solid tissue(30, 1);
  const auto make = [&](const NewtonTissue& given, double step) {
    NewtonScheme(given, parse_plan("CSR"), Device::cpu(), step_of(step));
  };
  const std::string positive = "the time step and the diffusivities of tissue must be above 0";
  expect_error(ErrorKind::usage, positive, [&] { make(tissue.view(), 0); });
  expect_error(ErrorKind::usage, positive, [&] { make(tissue.view(0, 1), 1); });
  NewtonOptions options = step_of(1);
  options.solver_tolerance = 0;
  expect_error(ErrorKind::usage,
               "tolerances of Newton's method must be above 0, and its iterations at least 0",
               [&] { NewtonScheme(tissue.view(), parse_plan("CSR"), Device::cpu(), options); });
  Solid stretched = tissue;
  stretched.fibre[7] = {0.6, 0.7, 0};
  expect_error(ErrorKind::usage, "the fibre of tetrahedron 7 does not have length 1",
               [&] { make(stretched.view(), 1); });
  Solid other = tissue;
  other.region[3] = 1;
  expect_error(ErrorKind::out_of_range, "tetrahedron 3 is in region 1 of 1, counted from 0",
               [&] { make(other.view(), 1); });
  NewtonTissue short_of_fibres = tissue.view();
  short_of_fibres.fibre = short_of_fibres.fibre.first(1);
  EXPECT_THROW(make(short_of_fibres, 1), Error);
  NewtonTissue empty = tissue.view();
  empty.tetrahedron = {};
  expect_error(ErrorKind::usage, "tissue without tetrahedra", [&] { make(empty, 1); });
}

}  // namespace
}  // namespace heart_newton
