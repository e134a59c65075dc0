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
  struct Destroy {
    void operator()(CUgraphExec_st* graph) const;
  };
  Stream stream_;
  std::unique_ptr<CUgraphExec_st, Destroy> graph_;
};

}  // namespace heddle::heart::cuda
