#include "timed_runs.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>

#include "base/cache_size.hpp"
#include "heddle/config.hpp"
#include "measure_cuda.hpp"

namespace heddle {

int runs_worth_timing(double seconds) {
  constexpr double worth_timing = 200e-6, max_runs = 10000;
  return static_cast<int>(
      std::clamp(std::ceil(worth_timing / std::max(seconds, 1e-9)), 1.0, max_runs));
}

std::unique_ptr<PreparedPlan> timed_runs(std::function<void(const Stream&)> run, long long bytes,
                                         const Device& device) {
  if constexpr (has_cuda) {
    if (device.on_gpu()) {
      // A graph does not keep its data alive.
      return std::make_unique<TimedPlan>(
          [run, seconds = cuda::replayed(run, device)] { return seconds(); });
    }
  }
  // Another plan in between has evicted the data from the cache.
  const bool warms = bytes < last_level_cache_bytes(device);
  const auto seconds_of = [run = std::move(run), stream = device.stream()](int runs) {
    using Clock = std::chrono::steady_clock;
    const auto start = Clock::now();
    for (int i = 0; i < runs; ++i) run(stream);
    return std::chrono::duration<double>(Clock::now() - start).count();
  };
  return std::make_unique<TimedPlan>([=, runs = runs_worth_timing(seconds_of(1))] {
    if (warms) seconds_of(1);
    return seconds_of(runs) / runs;
  });
}

}  // namespace heddle
