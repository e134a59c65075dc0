// A CUDA graph that repeats its body while a solver's loop runs.
#pragma once

#include <functional>

#include "../base/cuda_call.hpp"
#include "heddle/kernels/loop_state.hpp"

namespace heddle::cuda {

class WhileGraph {
 public:
  /// `capture(stream)` queues the kernels of the body, which is repeated until `state->end` is set.
  WhileGraph(const Device& device, const device::LoopState* state,
             const std::function<void(const Stream&)>& capture);
  WhileGraph(const WhileGraph&) = delete;
  WhileGraph& operator=(const WhileGraph&) = delete;
  ~WhileGraph();

  void launch(const Stream& stream) const;

 private:
  cudaGraphExec_t executable_ = nullptr;
};

}  // namespace heddle::cuda
