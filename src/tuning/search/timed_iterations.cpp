#include "timed_iterations.hpp"

#include <algorithm>

#include "base/cache_size.hpp"
#include "timed_runs.hpp"

namespace heddle {

long long iterations_worth_timing(IterationWork& solver, const Device& device) {
  struct SolveLength {
    long long least, most;  // iterations
    double seconds;
  };
  // Beginning and ending a solve on a GPU takes 90 to 230 us on one H200.
  const SolveLength length =
      device.on_gpu() ? SolveLength{60, 400, 2.6e-3} : SolveLength{5, 20, 20e-3};
  const Report few = solver.run(length.least);
  const double an_iteration =
      few.iterate_seconds / static_cast<double>(std::max(1LL, few.iterations));
  auto iterations =
      std::clamp(static_cast<long long>(length.seconds / std::max(an_iteration, 1e-9)),
                 length.least, length.most);
  while (iterations > length.least) {
    const Report all = solver.run(iterations);
    if (all.iterations == iterations && all.restarts == 0) break;
    iterations = std::max(length.least, iterations / 2);
  }
  return iterations;
}

std::unique_ptr<PreparedPlan> timed_iterations(std::shared_ptr<IterationWork> solver,
                                               long long iterations, long long bytes,
                                               const Device& device) {
  // Another plan in between has evicted the data from the cache: one untimed run brings it back.
  const bool warms = !device.on_gpu() && bytes < last_level_cache_bytes(device);
  const Report first = solver->run(iterations);
  const int solves = device.on_gpu() ? 1 : runs_worth_timing(first.iterate_seconds);
  return std::make_unique<TimedPlan>([=, solver = std::move(solver)] {
    if (warms) solver->run(iterations);
    double seconds = 0;
    long long done = 0;
    for (int i = 0; i < solves; ++i) {
      const Report report = solver->run(iterations);
      seconds += report.iterate_seconds;
      done += report.iterations;
    }
    return seconds / static_cast<double>(done);
  });
}

}  // namespace heddle
