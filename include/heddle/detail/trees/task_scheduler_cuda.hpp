// Operations on a tree, or on several, that a GPU schedules, see kernels/trees/task_scheduler.cuh.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <vector>

#include "heddle/detail/trees/scheduler_statistics.hpp"
#include "heddle/detail/trees/tree_product_cuda.hpp"
#include "heddle/kernels/trees/node_task.hpp"
#include "heddle/kernels/trees/scheduler_arguments.hpp"

namespace heddle {

namespace cuda {

struct SchedulerMemory;

/// There is one set of queues, so operations follow one another. The task of an operation has a
/// `NodeTask` for each of its trees, which have the same levels.
class HEDDLE_EXPORT TaskScheduler {
 public:
  using Trees = std::vector<std::shared_ptr<const TreeOnGpu>>;

  /// Compiles the kernels of an operation, a class of `operation_bytes`. Callers of `run` say so,
  /// since it takes less to begin. Throws `Error`: unsupported for operations without text and for
  /// 2^31 tasks of a kind or more, memory where the queues do not fit.
  TaskScheduler(const EntryText& operation, std::size_t operation_bytes, Trees trees,
                const Device& device, bool is_waited_for = false);
  ~TaskScheduler();

  /// Takes other trees, once work on the last ones is done; queues that hold their nodes stay.
  /// Throws `Error` like the constructor.
  void set_trees(Trees trees);

  /// Queues the operation on the stream. Throws `Error` (internal) if the GPU could not launch a
  /// kernel of one before, whose result is NaN, as are those queued after it; the next call works.
  void launch(const void* operation, const Stream& stream) const;
  /// Does the operation on the device's stream, and waits for it. Throws `Error` (internal) if the
  /// GPU could not launch one of its kernels; the scheduler is of no use then.
  void run(const void* operation) const;

  /// Addresses of the pools of the first tree, then of the next, for the operation.
  const unsigned long long* pools() const { return pools_.data(); }
  /// Waits for the last operation on the stream.
  SchedulerStatistics statistics(const Stream& stream) const;
  /// Bytes of the queues in the GPU's memory.
  long long bytes() const;

  /// For tests: when the controller launches and gives way.
  void set_limits(const device::SchedulerLimits& limits) { limits_ = limits; }
  const device::SchedulerLimits& limits() const { return limits_; }

 private:
  void check_last() const;
  void queue(const void* operation, const Stream& stream) const;

  Trees trees_;
  std::vector<NodeTask> root_;  // words of a task, which is not there without entries
  Device device_;
  Array<unsigned long long> pools_;
  mutable std::array<Array<NodeTask>, task_kinds> queues_;  // words of tasks
  std::unique_ptr<SchedulerMemory> memory_;
  device::SchedulerLimits limits_;
  unsigned preparing_blocks_;
  void* control_ = nullptr;  // kernel
};

}  // namespace cuda
}  // namespace heddle
