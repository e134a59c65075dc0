// Deflation by approximate eigenvectors changes how long a step takes, not where it leads.
#include "elastic/solids.hpp"
#include "time_stepping.hpp"

namespace heddle::elastic::test {
namespace {

struct Motion {
  std::vector<Point> end;
  long long later_iterations = 0;  // of all steps but the first
  long long first_iterations = 0;
  DeflationRecord deflation;
};

Motion motion(const Model& model, bool corotational, Method method, long long vectors) {
  Simulation simulation(model, {.corotational = corotational,
                                .with_mass = true,
                                .tolerance = 1e-9,
                                .earlier_solutions = corotational ? 8U : 0U,
                                .deflation = vectors});
  TimeStepping stepping(simulation.system, {.method = method, .time_step = 0.5});
  Motion result;
  for (int step = 0; step < 12; ++step) {
    const Report report = stepping.step();
    EXPECT_TRUE(report.converged()) << report;
    (step == 0 ? result.first_iterations : result.later_iterations) += report.iterations;
  }
  result.end = points_of(stepping.displacement());
  result.deflation = simulation.system.deflation;
  return result;
}

TEST(ElasticDeflation, LeadsToTheSameMotionInFewerIterations) {
  Model model = box({12, 3, 3}, {4, 1, 1}, {.young = 1000, .poisson = 0.3, .density = 1}, 0.1);
  clamp(model, [](const Point& p) { return p[0] == 0; });
  for (Point& load : model.load) load = {0, 0, -0.02};
  for (const bool corotational : {false, true}) {
    for (const Method method : {Method::newmark, Method::backward_euler}) {
      SCOPED_TRACE(corotational);
      SCOPED_TRACE(method == Method::newmark);
      const Motion plain = motion(model, corotational, method, 0);
      const Motion deflated = motion(model, corotational, method, 8);
      EXPECT_EQ(plain.deflation.systems, 0);
      EXPECT_EQ(deflated.deflation.systems, 11);
      EXPECT_EQ(deflated.deflation.vectors, 8);
      EXPECT_GT(deflated.deflation.eigen_iterations, 0);
      EXPECT_GT(deflated.deflation.setup_seconds, 0);
      EXPECT_EQ(deflated.deflation.iterations, deflated.later_iterations);
      // The first system is not deflated, whatever Newmark's method solved before.
      EXPECT_EQ(deflated.deflation.first_iterations, deflated.first_iterations);
      EXPECT_EQ(deflated.first_iterations, plain.first_iterations);
      EXPECT_LT(static_cast<double>(deflated.later_iterations),
                0.85 * static_cast<double>(plain.later_iterations));
      const double size = largest(plain.end);
      EXPECT_GT(size, 0.01);
      for (std::size_t v = 0; v < plain.end.size(); ++v) {
        ASSERT_LE((vector(plain.end[v]) - vector(deflated.end[v])).norm(), 1e-5 * size);
      }
    }
  }
}

TEST(ElasticDeflation, TakesAsManyVectorsAsAreUnknown) {
  Model model = box({1, 1, 1}, {1, 1, 1}, {.young = 1000, .poisson = 0.3, .density = 1});
  clamp(model, [](const Point& p) { return !(p[0] == 1 && p[1] == 1 && p[2] == 1); });
  for (Point& load : model.load) load = {0, 0, -0.02};
  const Motion plain = motion(model, false, Method::backward_euler, 0);
  const Motion deflated = motion(model, false, Method::backward_euler, 3);
  EXPECT_EQ(deflated.deflation.systems, 11);
  EXPECT_NEAR(deflated.end.back()[2], plain.end.back()[2], 1e-7 * std::abs(plain.end.back()[2]));
}

}  // namespace
}  // namespace heddle::elastic::test
