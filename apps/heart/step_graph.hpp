// The work of a step as one CUDA graph; there in builds that have CUDA.
#pragma once

#include <functional>
#include <memory>

#include "heddle/device.hpp"

struct CUgraphExec_st;  // what a cudaGraphExec_t points to

namespace heddle::heart::cuda {

class StepGraph {
 public:
  /// Captures what `queue` queues on the stream, which must be kernels, copies and fills alone.
  StepGraph(const Stream& stream, const std::function<void()>& queue);

  void launch() const;

 private:
  Stream stream_;
  std::shared_ptr<CUgraphExec_st> graph_;  // which knows how to end it
};

}  // namespace heddle::heart::cuda
