// The work of an operation on a tree that a GPU has scheduled, in numbers.
#pragma once

#include <array>
#include <optional>

#include "heddle/export.hpp"
#include "heddle/kernels/trees/node_task.hpp"

namespace heddle {

struct Stream;

/// The work of the last operation on a GPU.
struct SchedulerStatistics {
  struct Queue {
    long long tasks = 0;
    long long launches = 0;  // kernels
    bool operator==(const Queue&) const = default;
  };
  std::array<Queue, task_kinds> queues;
  long long controllers = 0;  // launches of the controller, which gives way if nothing advances
  long long rounds = 0;       // of its loop
  bool operator==(const SchedulerStatistics&) const = default;
};

namespace detail {

/// A product that is scheduled while it runs, for code that does not know its entries.
class HEDDLE_EXPORT ScheduledProduct {
 public:
  virtual ~ScheduledProduct() = default;
  /// The last product on the stream, which this waits for; none on a CPU, which has no queues.
  virtual std::optional<SchedulerStatistics> statistics(const Stream& stream) const = 0;
};

}  // namespace detail
}  // namespace heddle
