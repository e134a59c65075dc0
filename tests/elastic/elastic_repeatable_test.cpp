// The same bits for any number of threads.
#include <cstring>

#include "elastic/solids.hpp"
#include "time_stepping.hpp"

namespace heddle::elastic::test {
namespace {

std::vector<Point> end_of_run(const Model& model, Method method, int threads) {
  Simulation simulation(
      model, {.corotational = true, .with_mass = true, .tolerance = 1e-6, .earlier_solutions = 2},
      "pJDS", Device::cpu(threads));
  TimeStepping stepping(simulation.system, {.method = method, .time_step = 0.02});
  for (int step = 0; step < 3; ++step) EXPECT_TRUE(stepping.step().converged());
  std::vector<Point> state = points_of(stepping.displacement());
  const Energies energies = stepping.energies();
  state.push_back({energies.kinetic, energies.elastic, energies.work});
  return state;
}

TEST(ElasticRepeatable, ThreadsChangeNoBit) {
  // Enough elements and entries to employ a team of threads.
  Model model = box({15, 14, 14}, {1, 1, 1}, {.young = 10, .poisson = 0.3, .density = 1}, 0.2);
  clamp(model, [](const Point& p) { return p[2] == 0; });
  for (std::size_t v = 0; v < model.load.size(); ++v) model.load[v] = {1e-3, 0, -1e-2};
  for (const Method method : {Method::newmark, Method::backward_euler}) {
    const std::vector<Point> one = end_of_run(model, method, 1);
    ASSERT_GT(largest(one), 0);
    for (const int threads : {2, 3}) {
      const std::vector<Point> several = end_of_run(model, method, threads);
      EXPECT_EQ(std::memcmp(one.data(), several.data(), one.size() * sizeof(Point)), 0);
    }
  }
}

}  // namespace
}  // namespace heddle::elastic::test
