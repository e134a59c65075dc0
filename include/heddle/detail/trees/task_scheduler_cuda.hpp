// Operations on a tree that a GPU schedules, see kernels/trees/task_scheduler.cuh.
#pragma once

#include <array>
#include <cstddef>
#include <memory>
#include <string>

#include "heddle/detail/trees/scheduler_statistics.hpp"
#include "heddle/detail/trees/tree_product_cuda.hpp"
#include "heddle/kernels/trees/node_task.hpp"
#include "heddle/kernels/trees/scheduler_arguments.hpp"

namespace heddle {

namespace cuda {

struct SchedulerMemory;

/// There is one set of queues, so operations follow one another.
class HEDDLE_EXPORT TaskScheduler {
 public:
  /// Compiles the kernels of an operation, a class of `operation_bytes` whose text is `type` in the
  /// headers of `entry`. Throws `Error`: unsupported for entries without text and for 2^31 tasks of
  /// a kind or more, memory where the queues do not fit.
  TaskScheduler(const EntryText& entry, const std::string& type, std::size_t operation_bytes,
                std::shared_ptr<const TreeOnGpu> matrix, const Device& device);
  ~TaskScheduler();

  /// Takes another tree, once work on the last one is done; queues that hold its nodes stay. Throws
  /// `Error` like the constructor.
  void set_tree(std::shared_ptr<const TreeOnGpu> matrix);

  /// Queues the operation on the stream. Throws `Error` (internal) if the GPU could not launch a
  /// kernel of one before, whose result is NaN, as are those queued after it; the next call works.
  void launch(const void* operation, const Stream& stream) const;

  /// Addresses of the tree's pools, for the operation.
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

  std::shared_ptr<const TreeOnGpu> matrix_;
  Device device_;
  Array<unsigned long long> pools_;
  mutable std::array<Array<NodeTask>, task_kinds> queues_;
  std::unique_ptr<SchedulerMemory> memory_;
  device::SchedulerLimits limits_;
  unsigned preparing_blocks_;
  void* control_ = nullptr;  // kernel
};

}  // namespace cuda
}  // namespace heddle
