// Energies of motion.
#include <cstdio>

#include "elastic/solids.hpp"
#include "time_stepping.hpp"

namespace heddle::elastic::test {
namespace {

Model plucked_beam() {
  Model model = box({6, 1, 1}, {3, 0.5, 0.5}, {.young = 100, .poisson = 0.3, .density = 1});
  clamp(model, [](const Point& p) { return p[0] == 0; });
  for (std::size_t v = 0; v < model.velocity.size(); ++v) {
    const double x = model.position[v][0];
    model.velocity[v] = {0, 0.1 * x, 0.2 * x * x};
  }
  return model;
}

TEST(ElasticEnergy, NewmarkKeepsThatOfAFreeVibration) {
  Simulation simulation(plucked_beam(), {.with_mass = true, .tolerance = 1e-12});
  TimeStepping stepping(simulation.system, {.time_step = 0.02});
  ASSERT_TRUE(stepping.initial().converged());
  const double start = stepping.energies().total();
  ASSERT_GT(start, 0);
  double drift = 0, min_kinetic = start;
  for (int step = 0; step < 1000; ++step) {
    ASSERT_TRUE(stepping.step().converged());
    const Energies now = stepping.energies();
    drift = std::max(drift, std::abs(now.total() - start) / start);
    min_kinetic = std::min(min_kinetic, now.kinetic);
  }
  std::printf("relative drift over 1000 steps %.2e\n", drift);
  EXPECT_LT(drift, 1e-9);
  EXPECT_LT(min_kinetic, 0.3 * start);  // it oscillates
}

TEST(ElasticEnergy, NewmarkKeepsThatUnderLoads) {
  Model model = plucked_beam();
  for (Point& load : model.load) load = {0.01, 0, -0.02};
  Simulation simulation(model, {.with_mass = true, .tolerance = 1e-12});
  TimeStepping stepping(simulation.system, {.time_step = 0.02});
  const double start = stepping.energies().total();
  for (int step = 0; step < 200; ++step) ASSERT_TRUE(stepping.step().converged());
  EXPECT_NEAR(stepping.energies().total(), start, 1e-9 * start);
  EXPECT_GT(std::abs(stepping.energies().work), 1e-3 * start);
}

TEST(ElasticEnergy, BackwardEulerNeverRaisesIt) {
  Model model = plucked_beam();
  for (Point& load : model.load) load = {0, 0, -0.02};
  Simulation simulation(model, {.with_mass = true, .tolerance = 1e-12});
  TimeStepping stepping(simulation.system, {.method = Method::backward_euler, .time_step = 0.02});
  double before = stepping.energies().total();
  const double start = before;
  for (int step = 0; step < 300; ++step) {
    ASSERT_TRUE(stepping.step().converged());
    const double now = stepping.energies().total();
    ASSERT_LE(now, before + 1e-12 * start) << "step " << step;
    before = now;
  }
  EXPECT_LT(before, start);
}

TEST(ElasticEnergy, AFreeBodyFallsAsPointsDo) {
  const Model rest = box({2, 2, 2}, {1, 1, 1}, {.young = 50, .poisson = 0.2, .density = 2});
  Model model = rest;
  for (Offset e = 0; e < model.elements(); ++e) {
    for (const Index v : model.tetrahedron[static_cast<std::size_t>(e)]) {
      model.load[static_cast<std::size_t>(v)][2] -= 10 * 2 * model.volume(e) / 4;
    }
  }
  for (Point& velocity : model.velocity) velocity = {1, 0, 0};
  Simulation simulation(model, {.with_mass = true, .tolerance = 1e-13});
  TimeStepping stepping(simulation.system, {.time_step = 0.1});
  for (int step = 0; step < 10; ++step) ASSERT_TRUE(stepping.step().converged());
  for (const Point& u : points_of(stepping.displacement())) {
    EXPECT_NEAR(u[0], 1, 1e-10);
    EXPECT_NEAR(u[2], -5, 1e-10);
  }
}

}  // namespace
}  // namespace heddle::elastic::test
