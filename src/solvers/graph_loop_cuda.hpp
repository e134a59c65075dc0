// The frame around a loop's kernels in graphs: a WHILE node, or a host that launches a body of
// iterations again and again.
#pragma once

#include <functional>
#include <optional>

#include "captured_graph_cuda.hpp"
#include "heddle/plan.hpp"
#include "loop_cuda.hpp"

namespace heddle::cuda {

/// What a method queues: `start` before the first iteration, `body` for several of them, whose
/// kernels set the state's `end` and do nothing from then on, and `finish` behind the last.
struct LoopKernels {
  std::function<void(device::LoopState*, const Stream&)> start, body, finish;
};

/// Queues a whole run on a stream that is being captured.
void capture_while_it_runs(const LoopKernels& kernels, device::LoopState* state,
                           const Stream& capturing);

/// Runs of a loop that the host begins and waits for.
class GraphLoop {
 public:
  /// `form`: graph for a WHILE node, replay, or stepped for launches without a graph.
  GraphLoop(const Device& device, LoopForm form);

  /// `x` and `r` are the fields that may be others each time: where
  /// they are, the graph is captured again.
  RunResult run(const LoopKernels& kernels, const void* x, const void* r, const RunLimits& limits);

 private:
  Device device_;
  LoopForm form_;
  LoopRun run_;
  std::optional<CapturedGraph> graph_;
  const void* captured_x_ = nullptr;
  const void* captured_r_ = nullptr;
};

}  // namespace heddle::cuda
