// Motions of a loaded beam, to compare ways of solving their systems.
#pragma once

#include <vector>

#include "elastic/solids.hpp"
#include "time_stepping.hpp"

namespace heddle::elastic::test {

struct Motion {
  std::vector<Point> end;
  long long first_iterations = 0;
  long long later_iterations = 0;  // for all steps except the first
  cli::GuessRecord guesses;
  DeflationRecord deflation;

  long long iterations() const { return first_iterations + later_iterations; }
};

inline Motion motion(const Model& model, SystemOptions options, Method method, double time_step,
                     int steps) {
  options.with_mass = true;
  options.tolerance = 1e-9;
  Simulation simulation(model, options);
  TimeStepping stepping(simulation.system, {.method = method, .time_step = time_step});
  Motion result;
  for (int step = 0; step < steps; ++step) {
    const Report report = stepping.step();
    EXPECT_TRUE(report.converged()) << report;
    (step == 0 ? result.first_iterations : result.later_iterations) += report.iterations;
  }
  result.end = points_of(stepping.displacement());
  result.guesses = simulation.system.guesses;
  result.deflation = simulation.system.deflation;
  return result;
}

/// Held at one end, with a sudden load on the whole beam.
inline Model loaded_beam() {
  Model model = box({12, 3, 3}, {4, 1, 1}, {.young = 1000, .poisson = 0.3, .density = 1}, 0.1);
  clamp(model, [](const Point& p) { return p[0] == 0; });
  for (Point& load : model.load) load = {0, 0, -0.02};
  return model;
}

/// Calls `body(corotational, method)` for small displacements and large rotations, by both methods.
template <class Body>
void for_each_kind_of_motion(const Body& body) {
  for (const bool corotational : {false, true}) {
    for (const Method method : {Method::newmark, Method::backward_euler}) {
      SCOPED_TRACE(corotational);
      SCOPED_TRACE(method == Method::newmark);
      body(corotational, method);
    }
  }
}

inline void expect_same_end(const Motion& plain, const Motion& other) {
  const double size = largest(plain.end);
  EXPECT_GT(size, 0.01);
  for (std::size_t v = 0; v < plain.end.size(); ++v) {
    ASSERT_LE((vector(plain.end[v]) - vector(other.end[v])).norm(), 1e-5 * size);
  }
}

}  // namespace heddle::elastic::test
