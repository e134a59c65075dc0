// The work of a step as one CUDA graph; there in builds that have CUDA.
#pragma once

#include <functional>
#include <memory>

#include "heddle/device.hpp"
#include "heddle/plan.hpp"

struct CUgraphExec_st;  // what a cudaGraphExec_t points to

namespace heddle::heart {

/// A step that is a graph on a GPU has its solve in the graph.
inline Plan plan_of_step(Plan plan, const Device& device) {
  if (device.on_gpu() && plan.loop.form == LoopForm::stepped) plan.loop.form = LoopForm::graph;
  return plan;
}

/// What a function queues must be kernels, copies and fills alone.
using QueueWork = std::function<void()>;

/// Work that is repeated while a number that it leaves on the device is not 0.
struct RepeatedWork {
  QueueWork before;
  const int* goes_on;  // looked at behind `before` and each `again`
  QueueWork again;
  QueueWork after;
};

namespace cuda {

class StepGraph {
 public:
  /// Captures what is queued on the stream.
  StepGraph(const Stream& stream, const QueueWork& queue);
  /// The device decides how often it does `again`: no host waits for that.
  StepGraph(const Stream& stream, const RepeatedWork& work);

  void launch() const;

 private:
  Stream stream_;
  std::shared_ptr<CUgraphExec_st> graph_;  // which knows how to end it
};

}  // namespace cuda

}  // namespace heddle::heart
