#include "loop_cuda.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/profiler_range.hpp"
#include "base/stream_watch_cuda.hpp"
#include "heddle/error.hpp"
#include "ranks_in_loop.hpp"

namespace heddle::cuda {

namespace {

constexpr double longest_deadline = 1e9;  // seconds; a longer one means no deadline

}  // namespace

LoopRun::LoopRun(const Device& device, std::size_t systems)
    : device_(device),
      states_(systems, device),
      histories_(systems * max_iterations, device),
      notes_(device.stream()) {
  const OnGpu here(device.stream());
  systems_.reserve(systems);
  for (std::size_t k = 0; k < systems; ++k) {
    systems_.emplace_back(device.stream()).history.reserve(max_iterations);
  }
  for (Event& event : events_) event = make_event();
}

device::LoopState* LoopRun::begin(LimitsOfRun limits) {
  const OnGpu here(device_.stream());
  for (std::size_t k = 0; k < limits.size(); ++k) {
    System& system = systems_[k];
    const RunLimits& of = *limits[k];
    system.watch->iteration = system.observed_iteration = 0;
    system.watch->squared_norm = 0;
    system.watch->cancel = 0;
    system.watch->end = device::loop_runs;
    device::LoopState start{};
    start.limits = {of.target,
                    of.growth,
                    of.squared_norm,
                    std::min(of.iterations, static_cast<long long>(max_iterations)),
                    0,
                    0,
                    of.unwatched};
    if (of.seconds < longest_deadline && !has_ranks()) {
      start.limits.patience = static_cast<unsigned long long>(of.seconds * 1e9) + 1;
    }
    start.give(of.given.data());
    start.watch = system.watch.get();
    start.history = histories_.data() + k * max_iterations;
    *system.staged = start;
    check(cudaMemcpyAsync(states_.data() + k, system.staged.get(), sizeof start,
                          cudaMemcpyHostToDevice, device_.stream().queue),
          "cudaMemcpyAsync");
  }
  return states_.data();
}

void LoopRun::record(cudaEvent_t event) {
  check(cudaEventRecord(event, device_.stream().queue), "cudaEventRecord");
}

void LoopRun::observe(LimitsOfRun limits) {
  constexpr auto between_calls = std::chrono::milliseconds(20);
  const auto now = Clock::now();
  if (now - observed_ <= between_calls) return;
  for (std::size_t k = 0; k < limits.size(); ++k) {
    System& system = systems_[k];
    const long long iteration = system.watch->iteration;
    if (!limits[k]->observe || iteration == system.observed_iteration) continue;
    observed_ = now;
    system.observed_iteration = iteration;
    const device::LoopEnd wish = limits[k]->observe(iteration, system.watch->squared_norm);
    // The request stays, even if the caller has asked only once.
    if (wish != device::loop_runs) system.watch->cancel = wish;
  }
}

void LoopRun::await(cudaEvent_t event, LimitsOfRun limits) {
  // A sleep ends some 100 us late: less than a hundredth of the time waited by then.
  constexpr auto patience = std::chrono::milliseconds(20);
  const auto begun = Clock::now();
  for (;;) {
    const cudaError_t status = cudaEventQuery(event);
    if (status == cudaSuccess) return;
    if (status != cudaErrorNotReady) check(status, "the solver's loop on the GPU");
    if (!has_ranks()) observe(limits);
    look(device_.stream());
    // Short waits keep the core busy, long ones sleep.
    if (Clock::now() - begun > patience) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void LoopRun::stop() {
  if (auto* const ranks = dynamic_cast<RanksInLoop*>(device_.stream().share)) ranks->give_up();
  for (System& system : systems_) system.watch->cancel = device::loop_cancelled;
  synchronize_quietly(device_.stream());
}

void LoopRun::wait(LimitsOfRun limits, std::span<RunResult> results) {
  const Range range("loop on the GPU");
  const OnGpu here(device_.stream());
  observed_ = Clock::now();
  try {
    for (std::size_t k = 0; k < limits.size(); ++k) {
      check(cudaMemcpyAsync(systems_[k].staged.get(), states_.data() + k, sizeof(device::LoopState),
                            cudaMemcpyDeviceToHost, device_.stream().queue),
            "cudaMemcpyAsync");
    }
    record(events_[0].get());
    await(events_[0].get(), limits);
  } catch (...) {
    stop();
    throw;
  }
  for (std::size_t k = 0; k < limits.size(); ++k) {
    System& system = systems_[k];
    const device::LoopState& state = *system.staged;
    system.history.resize(static_cast<std::size_t>(state.iteration));
    detail::copy_bytes(system.history.data(), histories_.data() + k * max_iterations,
                       system.history.size() * sizeof(double), device_.stream());
    results[k] = {state.end, state.iteration, system.history};
  }
}

void LoopRun::repeat(const std::function<void()>& queue, bool ahead, LimitsOfRun limits) {
  const Range range("bodies of the loop");
  const OnGpu here(device_.stream());
  if (has_ranks()) return repeat_on_ranks(queue, ahead, *limits.front());
  observed_ = Clock::now();
  const auto runs = [&](const System& system) { return system.watch->end == device::loop_runs; };
  const std::span running(systems_.data(), limits.size());
  try {
    for (std::size_t launched = 0;; ++launched) {
      // The event of the last launch but one: once it has happened, data that its kernels wrote is
      // visible.
      const cudaEvent_t event = events_[ahead ? launched % 2 : 0].get();
      if (launched >= (ahead ? 2U : 1U)) await(event, limits);
      if (std::none_of(running.begin(), running.end(), runs)) break;
      if (!ahead) observed_ = {};
      observe(limits);  // even if no launch is ever waited for
      queue();
      record(event);
    }
  } catch (...) {
    stop();
    throw;
  }
}

/// All ranks queue the same number of bodies: before queueing the next, each looks at the note
/// after the last body but one, which is the same on all of them. A body has sums and exchanges, in
/// which a rank would be alone otherwise. For one system: ranks take one after the other.
void LoopRun::repeat_on_ranks(const std::function<void()>& queue, bool meets,
                              const RunLimits& limits) {
  System& system = systems_.front();
  const Stream& stream = device_.stream();
  const auto take_note = [&](std::size_t turn) {
    note(states_.data(), &(*notes_)[turn], stream);
    record(events_[turn].get());
  };
  auto* const ranks = meets ? &dynamic_cast<RanksInLoop&>(*stream.share) : nullptr;
  const auto meet = [&] {
    if (ranks != nullptr) ranks->meet();
  };
  try {
    take_note(0);
    meet();  // no rank captures or compiles any more, which may wait for GPUs
    if (ranks != nullptr && ranks->has_given_up()) {
      throw Error(ErrorKind::usage,
                  "an earlier solve with this matrix failed on a rank: distribute it again");
    }
    for (std::size_t launched = 0;; ++launched) {
      const std::size_t before = (launched + 1) % 2;
      if (launched > 0) {
        const RunLimits* const of_all[] = {&limits};
        await(events_[before].get(), of_all);
        const LoopNote last = (*notes_)[before];
        if (last.end != device::loop_runs) break;
        if (limits.observe && last.iteration != system.observed_iteration) {
          system.observed_iteration = last.iteration;
          const device::LoopEnd wish = limits.observe(last.iteration, last.squared_norm);
          if (wish != device::loop_runs) ask_for(wish, system.watch.get(), stream);
        }
      }
      queue();
      take_note(before);
      meet();
    }
  } catch (...) {
    stop();
    throw;
  }
}

}  // namespace heddle::cuda
