// Waves: their speed under refinement, and what a mass matrix makes of it.
#include <cmath>

#include "../../apps/heart/activation.hpp"
#include "heart/tissue.hpp"

namespace heddle::heart::test {
namespace {

/// mm/ms, of a plane wave along a bar, between 6 and 10 mm.
double speed(double h, const char* mass, double step = 0.05) {
  json of = slab_case();
  of["mesh"] = {{"slab", {12, h, h}}, {"h", h}};
  of["stimuli"][0] = {
      {"box", {{"from", {0, 0, 0}}, {"to", {1, 1, 1}}}}, {"duration", 1}, {"amplitude", 100}};
  of["time"] = {{"step", step}, {"end", 40}, {"mass", mass}};
  of["points"] = {{"a", {6, 0, 0}}, {"b", {10, 0, 0}}};
  const Tissue tissue(of);
  Simulation simulation(tissue);
  simulation.run(tissue.given.time.steps);
  const std::vector<double> activation = simulation.system.activation_of_vertices();
  return 4 / (tissue.traces.probes[1].of(activation) - tissue.traces.probes[0].of(activation));
}

TEST(HeartWaves, SpeedConvergesUnderRefinement) {
  for (const char* mass : {"consistent", "lumped"}) {
    const double coarse = speed(0.5, mass), middle = speed(0.25, mass), fine = speed(0.125, mass);
    EXPECT_GT(fine, 0.05);
    EXPECT_GT(std::abs(coarse - middle), 2 * std::abs(middle - fine)) << mass;
    EXPECT_NEAR(fine, middle, 0.03 * fine) << mass;
  }
  // Lumping slows waves in wide elements, which a consistent mass makes fast: both go to one speed.
  EXPECT_GT(speed(0.5, "consistent"), speed(0.5, "lumped"));
  EXPECT_NEAR(speed(0.125, "consistent"), speed(0.125, "lumped"), 0.05 * speed(0.125, "lumped"));
}

TEST(HeartWaves, VelocityIsThatOfTheTimes) {
  const Tissue tissue(slab_case());
  std::vector<double> times;
  for (const Point& p : tissue.model.position) times.push_back(3 + 2 * p[0] - p[2]);
  std::vector<double> velocity = wave_velocity(tissue.model, times);
  for (std::size_t e = 0; e < tissue.model.tetrahedron.size(); ++e) {
    EXPECT_NEAR(velocity[3 * e], 0.4, 1e-12);
    EXPECT_NEAR(velocity[3 * e + 1], 0, 1e-12);
    EXPECT_NEAR(velocity[3 * e + 2], -0.2, 1e-12);
  }
  times[0] = std::nan("");
  velocity = wave_velocity(tissue.model, times);
  EXPECT_TRUE(std::isnan(velocity[0]));
  const std::vector<double> still(times.size(), 5);
  for (const double v : wave_velocity(tissue.model, still)) EXPECT_TRUE(std::isnan(v));
}

}  // namespace
}  // namespace heddle::heart::test
