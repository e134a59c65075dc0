// Waves: their speed under refinement, and the effect of the mass matrix on it.
#include <cmath>

#include "../../apps/heart/time_scale.hpp"
#include "heart/tissue.hpp"
#include "run/activation.hpp"

namespace heddle::heart::test {
namespace {

/// In mm/ms: the speed of a plane wave along a bar, between 6 and 10 mm.
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
  // Lumping slows waves in wide elements, a consistent mass speeds them up; both go to one speed.
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
  const SpeedRange range = speed_range(tissue.model, times);
  for (const double speed : {range.low, range.median, range.high}) {
    EXPECT_NEAR(speed, std::sqrt(0.2), 1e-12);
  }
  times[0] = std::nan("");
  velocity = wave_velocity(tissue.model, times);
  EXPECT_TRUE(std::isnan(velocity[0]));
  const std::vector<double> still(times.size(), 5);
  for (const double v : wave_velocity(tissue.model, still)) EXPECT_TRUE(std::isnan(v));
  EXPECT_TRUE(std::isnan(speed_range(tissue.model, still).median));
}

/// A bar of the bands lies below the surface, and the times below the bar.
TEST(HeartWaves, ScaleIsBelowTheSurface) {
  const std::vector<Point> corners = {{0, 0, 0}, {128, 0, 0}, {0, 50, 3}};
  const std::vector<std::array<Index, 3>> triangles = {{0, 1, 2}};
  const mesh::DrawnSurface surface{{Array<Point>(std::span<const Point>(corners)),
                                    Array<std::array<Index, 3>>(std::span(triangles))},
                                   {{1, 0, 0}}};
  const std::vector<mesh::Colour> bands = {{0, 0, 1}, {0, 1, 0}};
  const mesh::DrawnSurface drawn = with_time_scale(surface, bands, 7, 1);
  const auto& position = drawn.mesh.position;
  ASSERT_EQ(drawn.colour.size(), drawn.mesh.triangle.size());
  // Number of squares in the shapes of "7.0 ms" and "1.0 ms".
  EXPECT_EQ(drawn.mesh.triangle.size(), 1U + 2 * (2 + 7 + 1 + 12 + 12 + 6 + 8 + 1 + 12 + 12 + 6));
  EXPECT_EQ(drawn.colour[1], bands[0]);
  EXPECT_EQ(drawn.colour[4], bands[1]);
  for (std::size_t v = 3; v < position.size(); ++v) {
    EXPECT_GE(position[v][0], 0);
    EXPECT_LE(position[v][0], 128);
    EXPECT_LT(position[v][1], 0);
  }
}

}  // namespace
}  // namespace heddle::heart::test
