#include "graph_loop_cuda.hpp"

namespace heddle::cuda {

void capture_while_it_runs(const LoopKernels& kernels, device::LoopState* state,
                           const Stream& capturing) {
  const OnGpu here(capturing);
  kernels.start(state, capturing);
  capture_while_zero(capturing, &state->end,
                     [&](const Stream& body) { kernels.body(state, body); });
  kernels.finish(state, capturing);
}

GraphLoop::GraphLoop(const Device& device, LoopForm form)
    : device_(device), form_(form), run_(device) {}

RunResult GraphLoop::run(const LoopKernels& kernels, const void* x, const void* r,
                         const RunLimits& limits) {
  const Stream& stream = device_.stream();
  device::LoopState* const state = run_.begin(limits);
  const OnGpu here(stream);
  if (form_ == LoopForm::stepped) {
    kernels.start(state, stream);
    run_.repeat([&] { kernels.body(state, stream); }, false, limits);
    kernels.finish(state, stream);
    return run_.wait(limits);
  }
  if (!graph_ || captured_x_ != x || captured_r_ != r) {
    captured_x_ = x;
    captured_r_ = r;
    graph_.emplace(device_, [&](const Stream& capturing) {
      if (form_ == LoopForm::replay) {
        kernels.body(state, capturing);
      } else {
        capture_while_it_runs(kernels, state, capturing);
      }
    });
  }
  if (form_ == LoopForm::graph) {
    graph_->launch(stream);
    return run_.wait(limits);
  }
  kernels.start(state, stream);
  run_.repeat([&] { graph_->launch(stream); }, true, limits);
  kernels.finish(state, stream);
  return run_.wait(limits);
}

}  // namespace heddle::cuda
