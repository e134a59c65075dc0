#include "graph_loop_cuda.hpp"

#include <algorithm>

namespace heddle::cuda {

Flags ends_of(device::LoopState* states, std::size_t systems) {
  static_assert(sizeof(device::LoopState) % sizeof(int) == 0);
  return {&states->end, static_cast<int>(systems),
          static_cast<int>(sizeof(device::LoopState) / sizeof(int))};
}

void capture_while_it_runs(const LoopKernels& kernels, device::LoopState* states,
                           std::size_t systems, const Stream& capturing) {
  const OnGpu here(capturing);
  kernels.start(states, capturing);
  capture_while_any_is_zero(capturing, ends_of(states, systems),
                            [&](const Stream& body) { kernels.body(states, body); });
  kernels.finish(states, capturing);
}

GraphLoop::GraphLoop(const Device& device, LoopForm form, std::size_t systems)
    : device_(device), form_(form), run_(device, systems) {
  captured_.reserve(3 * systems);
}

void GraphLoop::run(const LoopKernels& kernels, std::span<const void* const> fields,
                    LimitsOfRun limits, std::span<RunResult> results) {
  const Stream& stream = device_.stream();
  device::LoopState* const states = run_.begin(limits);
  const OnGpu here(stream);
  const auto queue = [&](const auto& part) {
    try {
      part(states, stream);
    } catch (...) {
      run_.stop();
      throw;
    }
  };
  if (form_ == LoopForm::stepped) {
    queue(kernels.start);
    run_.repeat([&] { kernels.body(states, stream); }, false, limits);
    queue(kernels.finish);
    return run_.wait(limits, results);
  }
  if (!graph_ || !std::equal(fields.begin(), fields.end(), captured_.begin(), captured_.end())) {
    captured_.assign(fields.begin(), fields.end());
    graph_.emplace(device_, [&](const Stream& capturing) {
      if (form_ == LoopForm::replay) {
        kernels.body(states, capturing);
      } else {
        capture_while_it_runs(kernels, states, limits.size(), capturing);
      }
    });
  }
  if (form_ == LoopForm::graph) {
    graph_->launch(stream);
    return run_.wait(limits, results);
  }
  queue(kernels.start);
  run_.repeat([&] { graph_->launch(stream); }, true, limits);
  queue(kernels.finish);
  run_.wait(limits, results);
}

}  // namespace heddle::cuda
