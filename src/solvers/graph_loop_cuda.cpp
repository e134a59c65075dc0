#include "graph_loop_cuda.hpp"

namespace heddle::cuda {

void capture_while_it_runs(const LoopKernels& kernels, device::LoopState* state,
                           const Stream& capturing) {
  const OnGpu here(capturing);
  kernels.start(state, capturing);
  capture_while_zero(capturing, &state->end,
                     [&](const Stream& body) { kernels.body(state, body); });
}

GraphLoop::GraphLoop(const Device& device, LoopForm form)
    : device_(device), is_replayed_(form == LoopForm::replay), run_(device) {}

RunResult GraphLoop::run(const LoopKernels& kernels, const void* x, const void* r,
                         const device::LoopState& start, const RunLimits& limits) {
  const Stream& stream = device_.stream();
  device::LoopState* const state = run_.begin(limits, start);
  if (!graph_ || captured_x_ != x || captured_r_ != r) {
    captured_x_ = x;
    captured_r_ = r;
    graph_.emplace(device_, [&](const Stream& capturing) {
      if (is_replayed_) {
        kernels.body(state, capturing);
      } else {
        capture_while_it_runs(kernels, state, capturing);
      }
    });
  }
  if (!is_replayed_) {
    graph_->launch(stream);
    return run_.wait(limits);
  }
  const OnGpu here(stream);
  kernels.start(state, stream);
  return run_.replay(*graph_, limits);
}

}  // namespace heddle::cuda
