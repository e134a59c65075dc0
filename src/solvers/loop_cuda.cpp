#include "loop_cuda.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <thread>

#include "../base/range.hpp"

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
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, cudaEventDisableTiming), "cudaEventCreateWithFlags");
  event_.reset(event);
  history_on_host_.reserve(static_cast<std::size_t>(room));
}

device::LoopState* LoopRun::begin(const RunLimits& limits, device::LoopState start) {
  const OnGpu here(device_.stream());
  watch_->iteration = 0;
  watch_->squared_norm = start.squared_norm;
  watch_->cancel = 0;
  start.limits = {limits.target,   limits.growth, std::min(limits.iterations, room), 0, 0,
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

RunResult LoopRun::wait(const RunLimits& limits) {
  using Clock = std::chrono::steady_clock;
  constexpr auto patience = std::chrono::milliseconds(2);
  constexpr auto between_calls = std::chrono::milliseconds(20);
  const Range range("loop on the GPU");
  const OnGpu here(device_.stream());
  check(cudaMemcpyAsync(staged_.get(), state_.data(), sizeof(device::LoopState),
                        cudaMemcpyDeviceToHost, device_.stream().queue),
        "cudaMemcpyAsync");
  check(cudaEventRecord(event_.get(), device_.stream().queue), "cudaEventRecord");
  const auto begun = Clock::now();
  auto called = begun;
  for (;;) {
    const cudaError_t status = cudaEventQuery(event_.get());
    if (status == cudaSuccess) break;
    if (status != cudaErrorNotReady) check(status, "the solver's loop on the GPU");
    const auto now = Clock::now();
    if (limits.observe && now - called > between_calls) {
      called = now;
      try {
        if (!limits.observe(watch_->iteration, watch_->squared_norm)) watch_->cancel = 1;
      } catch (...) {
        // Not before the kernels are done with what the caller may now take away.
        watch_->cancel = 1;
        cudaEventSynchronize(event_.get());
        throw;
      }
    }
    // A short solve is awaited on the core, a long one asleep.
    if (now - begun > patience) std::this_thread::sleep_for(std::chrono::microseconds(50));
  }
  const device::LoopState& state = *staged_;
  const auto iterations = static_cast<std::size_t>(state.iteration);
  history_on_host_.resize(iterations);
  detail::copy_bytes(history_on_host_.data(), history_.data(), iterations * sizeof(double),
                     device_.stream());
  return {state.end, state.iteration, state.squared_norm, history_on_host_};
}

}  // namespace heddle::cuda
