// Guesses from earlier solutions change how long a step takes, not where it leads.
#include "elastic/solids.hpp"
#include "time_stepping.hpp"

namespace heddle::elastic::test {
namespace {

struct Motion {
  std::vector<Point> end;
  long long iterations = 0;
  cli::GuessRecord guesses;
};

Motion motion(const Model& model, bool corotational, Method method, std::size_t earlier) {
  Simulation simulation(model, {.corotational = corotational,
                                .with_mass = true,
                                .tolerance = 1e-9,
                                .earlier_solutions = earlier});
  TimeStepping stepping(simulation.system, {.method = method, .time_step = 0.02});
  Motion result;
  for (int step = 0; step < 25; ++step) {
    const Report report = stepping.step();
    EXPECT_TRUE(report.converged()) << report;
    result.iterations += report.iterations;
  }
  result.end = points_of(stepping.displacement());
  result.guesses = simulation.system.guesses;
  return result;
}

TEST(ElasticGuesses, LeadToTheSameMotionInFewerIterations) {
  Model model = box({12, 3, 3}, {4, 1, 1}, {.young = 1000, .poisson = 0.3, .density = 1}, 0.1);
  clamp(model, [](const Point& p) { return p[0] == 0; });
  for (Point& load : model.load) load = {0, 0, -0.02};
  for (const bool corotational : {false, true}) {
    for (const Method method : {Method::newmark, Method::backward_euler}) {
      SCOPED_TRACE(corotational);
      SCOPED_TRACE(method == Method::newmark);
      const Motion plain = motion(model, corotational, method, 0);
      const Motion guessed = motion(model, corotational, method, 8);
      EXPECT_EQ(plain.guesses.count, 0);
      EXPECT_EQ(guessed.guesses.count, 24);
      EXPECT_GT(guessed.guesses.used(), 5);
      EXPECT_LT(guessed.guesses.residual(), guessed.guesses.residual_before());
      // The load is sudden. Newmark's method keeps the fast vibrations that it sets off, which are
      // others in every step, and backward Euler damps them.
      const double factor = method == Method::newmark ? 1 : 0.8;
      EXPECT_LT(static_cast<double>(guessed.iterations),
                factor * static_cast<double>(plain.iterations));
      const double size = largest(plain.end);
      EXPECT_GT(size, 0.01);
      for (std::size_t v = 0; v < plain.end.size(); ++v) {
        ASSERT_LE((vector(plain.end[v]) - vector(guessed.end[v])).norm(), 1e-5 * size);
      }
    }
  }
}

}  // namespace
}  // namespace heddle::elastic::test
