// The work of a step as one CUDA graph; only in builds with CUDA.
#pragma once

#include <functional>
#include <memory>

#include "heddle/device.hpp"
#include "heddle/plan.hpp"

struct CUgraphExec_st;  // the type that a cudaGraphExec_t points to

namespace heddle::heart {

/// On a GPU, a step that is a graph contains its solve.
inline Plan plan_of_step(Plan plan, const Device& device) {
  if (device.on_gpu() && plan.loop.form == LoopForm::stepped) plan.loop.form = LoopForm::graph;
  return plan;
}

/// The function may queue only kernels, copies and fills.
using QueueWork = std::function<void()>;

/// Work that is repeated while a number that it leaves on the device is not 0.
struct RepeatedWork {
  QueueWork before;
  const int* goes_on;  // checked after `before` and after each `again`
  QueueWork again;
  QueueWork after;  // may be empty
};

namespace cuda {

class StepGraph {
 public:
  /// Captures the work queued on the stream.
  StepGraph(const Stream& stream, const QueueWork& queue);
  /// The device decides how often `again` runs: no host waits for that.
  StepGraph(const Stream& stream, const RepeatedWork& work);

  void launch() const;

 private:
  Stream stream_;
  std::shared_ptr<CUgraphExec_st> graph_;  // whose deleter destroys it
};

}  // namespace cuda

}  // namespace heddle::heart
