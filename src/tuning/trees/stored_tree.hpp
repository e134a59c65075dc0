// A matrix in hierarchical storage whose entries are known at run time only.
#pragma once

#include <functional>

#include "heddle/hierarchical_memory.hpp"
#include "heddle/runtime/any_matrix.hpp"
#include "heddle/runtime/any_operator.hpp"
#include "heddle/tuning/tree_record.hpp"

namespace heddle {

struct StoredTree {
  AnyLinearOperator matrix;
  /// Includes the schedules that products have made so far; on a GPU these exist from the start.
  /// Includes queues of A x too, if each product makes its schedule.
  std::function<HierarchicalMemory()> memory;
  TreeLaunch launch;  // of a kept schedule, in full
};

/// Entries of a definition have a kept schedule only. Throws `Error` like `HierarchicalMatrix` and
/// `DynamicProduct`.
StoredTree stored_tree(const AnyMatrix& matrix, const NodeLayout& nodes, NodeSchedule schedule,
                       const Device& device);

}  // namespace heddle
