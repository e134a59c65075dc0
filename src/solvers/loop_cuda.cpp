#include "loop_cuda.hpp"

#include <algorithm>
#include <cmath>
#include <thread>

#include "base/range.hpp"

namespace heddle::cuda {

namespace {

constexpr double longest_deadline = 1e9;  // seconds; beyond it there is none

}  // namespace

LoopRun::LoopRun(const Device& device)
    : device_(device),
      state_(1, device),
      history_(static_cast<std::size_t>(room), device),
      staged_(device.stream()),
      watch_(device.stream()) {
  const OnGpu here(device.stream());
  for (auto& owned : events_) {
    cudaEvent_t event = nullptr;
    check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
    owned.reset(event);
  }
  history_on_host_.reserve(static_cast<std::size_t>(room));
}

device::LoopState* LoopRun::begin(const RunLimits& limits) {
  const OnGpu here(device_.stream());
  watch_->iteration = told_ = 0;
  watch_->squared_norm = 0;
  watch_->cancel = 0;
  watch_->end = device::loop_runs;
  device::LoopState start{};
  start.limits = {
      limits.target,   limits.growth, limits.squared_norm, std::min(limits.iterations, room), 0, 0,
      limits.unwatched};
  if (limits.seconds < longest_deadline) {
    start.limits.patience = static_cast<unsigned long long>(limits.seconds * 1e9) + 1;
  }
  start.watch = watch_.get();
  start.history = history_.data();
  *staged_ = start;
  check(cudaMemcpyAsync(state_.data(), staged_.get(), sizeof start, cudaMemcpyHostToDevice,
                        device_.stream().queue),
        "cudaMemcpyAsync");
  return state_.data();
}

void LoopRun::record(cudaEvent_t event) {
  check(cudaEventRecord(event, device_.stream().queue), "cudaEventRecord");
}

void LoopRun::observe(const RunLimits& limits) {
  constexpr auto between_calls = std::chrono::milliseconds(20);
  const auto now = Clock::now();
  const long long iteration = watch_->iteration;
  if (!limits.observe || iteration == told_) return;
  if (now - observed_ <= between_calls) return;
  observed_ = now;
  told_ = iteration;
  if (limits.observe(iteration, watch_->squared_norm) != device::loop_runs) {
    watch_->cancel = 1;
  }
}

void LoopRun::await(cudaEvent_t event, const RunLimits& limits) {
  // A sleep ends some 100 us late: less than a hundredth of what is awaited then.
  constexpr auto patience = std::chrono::milliseconds(20);
  const auto begun = Clock::now();
  for (;;) {
    const cudaError_t status = cudaEventQuery(event);
    if (status == cudaSuccess) return;
    if (status != cudaErrorNotReady) check(status, "the solver's loop on the GPU");
    observe(limits);
    // What is short is awaited on the core, what is long asleep.
    if (Clock::now() - begun > patience) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
}

void LoopRun::stop() {
  watch_->cancel = 1;
  cudaStreamSynchronize(device_.stream().queue);
}

RunResult LoopRun::wait(const RunLimits& limits) {
  const Range range("loop on the GPU");
  const OnGpu here(device_.stream());
  observed_ = Clock::now();
  try {
    check(cudaMemcpyAsync(staged_.get(), state_.data(), sizeof(device::LoopState),
                          cudaMemcpyDeviceToHost, device_.stream().queue),
          "cudaMemcpyAsync");
    record(events_[0].get());
    await(events_[0].get(), limits);
  } catch (...) {
    stop();
    throw;
  }
  const device::LoopState& state = *staged_;
  const auto iterations = static_cast<std::size_t>(state.iteration);
  history_on_host_.resize(iterations);
  detail::copy_bytes(history_on_host_.data(), history_.data(), iterations * sizeof(double),
                     device_.stream());
  return {state.end, state.iteration, history_on_host_};
}

void LoopRun::repeat(const std::function<void()>& queue, bool ahead, const RunLimits& limits) {
  const Range range("bodies of the loop");
  const OnGpu here(device_.stream());
  observed_ = Clock::now();
  try {
    for (std::size_t launched = 0;; ++launched) {
      // Of the last launch but one: what its kernels wrote is visible once the event has happened.
      const cudaEvent_t event = events_[ahead ? launched % 2 : 0].get();
      if (launched >= (ahead ? 2U : 1U)) await(event, limits);
      if (watch_->end != device::loop_runs) break;
      if (!ahead) observed_ = {};
      observe(limits);  // also where no launch is ever waited for
      queue();
      record(event);
    }
  } catch (...) {
    stop();
    throw;
  }
}

}  // namespace heddle::cuda
