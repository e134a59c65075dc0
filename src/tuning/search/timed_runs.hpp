// Work that only queues, in a form that a race can time.
#pragma once

#include <functional>
#include <memory>
#include <utility>

#include "heddle/device.hpp"
#include "heddle/tuning/trials.hpp"

namespace heddle {

/// `bytes`: read by a run. On a GPU a run is one of a replayed graph, between events; on the CPU as
/// many runs as take 200 us are timed together. Caches are warm.
std::unique_ptr<PreparedPlan> timed_runs(std::function<void(const Stream&)> run, long long bytes,
                                         const Device& device);

/// Number of runs to time together for work of that many seconds.
int runs_worth_timing(double seconds);

/// A plan that is run and timed by the function.
class TimedPlan final : public PreparedPlan {
 public:
  explicit TimedPlan(std::function<double()> run) : run_(std::move(run)) {}
  double run() override { return run_(); }

 private:
  std::function<double()> run_;
};

}  // namespace heddle
