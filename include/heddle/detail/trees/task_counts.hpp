// Lengths of the queues of operations on trees.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>

#include "heddle/hierarchical_memory.hpp"
#include "heddle/kernels/trees/node_task.hpp"

namespace heddle::detail {

/// Nodes of some trees together, each of which has `places` places.
struct TaskNodes {
  NodeCounts inner;
  NodeCounts leaves;
  long long places;

  void add(const HierarchicalMemory& tree) {
    add(inner, tree.inner);
    add(leaves, tree.leaves);
  }

 private:
  static void add(NodeCounts& to, const NodeCounts& counts) {
    for (std::size_t kind = 0; kind < node_kinds; ++kind) to.of_kind[kind] += counts.of_kind[kind];
    to.items += counts.items;
  }
};

/// Bounds on the tasks of each kind: parts of nodes, or of pairs of them (`TreeSumOperation`),
/// which have the slots of one node or of both.
inline std::array<long long, task_kinds> max_tasks(const TaskNodes& nodes) {
  const auto of = [](const NodeCounts& counts, NodeKind kind) {
    return counts.of_kind[static_cast<std::size_t>(kind)];
  };
  const auto parts = [](TaskKind kind, long long slots) {
    const long long of_task = task_shape(kind).slots;
    return (slots + of_task - 1) / of_task;
  };
  const auto& [inner, leaves, places] = nodes;
  const long long dense = of(inner, NodeKind::dense), dense_leaves = of(leaves, NodeKind::dense);
  const long long sparse = inner.nodes() - dense;
  const long long coo4 = of(leaves, NodeKind::coo4);
  const int some = task_shape(TaskKind::some_entries).slots;
  return {sparse,
          std::min(sparse, inner.items / (task_shape(TaskKind::few_children).slots + 1)) +
              parts(TaskKind::many_children, inner.items),
          dense * parts(TaskKind::dense_children, places),
          leaves.nodes() - dense_leaves - coo4,
          coo4,
          std::min(coo4, leaves.items / (some + 1)) + parts(TaskKind::many_entries, leaves.items),
          dense_leaves * parts(TaskKind::dense_entries, places)};
}

}  // namespace heddle::detail
