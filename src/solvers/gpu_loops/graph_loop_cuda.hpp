// The frame around a loop's kernels in graphs: a WHILE node, or a host that launches a body of
// iterations again and again.
#pragma once

#include <functional>
#include <optional>
#include <vector>

#include "captured_graph_cuda.hpp"
#include "heddle/plan.hpp"
#include "loop_cuda.hpp"

namespace heddle::cuda {

/// The work that a method queues: `start` with the first iterations or none, `body` for several
/// more, whose kernels set the `end` of each system's state and do nothing for that system from
/// then on, and `finish` after the last.
struct LoopKernels {
  std::function<void(device::LoopState*, const Stream&)> start, body, finish;
};

/// The ends of `systems` systems.
Flags ends_of(device::LoopState* states, std::size_t systems);

/// Queues a whole run of `systems` systems on a stream that is being captured.
void capture_while_it_runs(const LoopKernels& kernels, device::LoopState* states,
                           std::size_t systems, const Stream& capturing);

/// Runs of a loop that the host begins and waits for.
class GraphLoop {
 public:
  /// `form`: graph for a WHILE node, replay, or stepped for launches without a graph. `systems`:
  /// maximum number.
  GraphLoop(const Device& device, LoopForm form, std::size_t systems);

  /// `fields`: those that may differ between calls. If they do, the graph is captured again.
  void run(const LoopKernels& kernels, std::span<const void* const> fields, LimitsOfRun limits,
           std::span<RunResult> results);

 private:
  Device device_;
  LoopForm form_;
  LoopRun run_;
  std::optional<CapturedGraph> graph_;
  std::vector<const void*> captured_;  // fields
};

}  // namespace heddle::cuda
