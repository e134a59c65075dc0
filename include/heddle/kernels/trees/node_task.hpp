// A node of a tree that waits to be worked on, and the queue it waits in (Derler et al. 2017,
// section 4.1 and figure 3): by inner node or leaf, sparse or dense, and number of entries, so that
// threads that run together have equal work. Shared by CPU and GPU.
#pragma once

#include "heddle/kernels/trees/tree_node.hpp"

namespace heddle {

/// The queues of operations on one tree.
enum class TaskKind {
  few_children,
  many_children,
  dense_children,
  few_entries,   // one or two
  some_entries,  // up to 32
  many_entries,
  dense_entries
};
inline constexpr int task_kinds = 7;

/// The threads of a GPU that share a task, and the entries or places of the node that the task
/// covers: a larger node is several tasks, its parts.
struct TaskShape {
  int lanes;
  int slots;
};
HEDDLE_HD constexpr TaskShape task_shape(TaskKind kind) {
  switch (kind) {
    case TaskKind::few_children:
      return {8, 8};
    case TaskKind::many_children:
    case TaskKind::dense_children:
      return {256, 256};
    case TaskKind::few_entries:
      return {1, 2};
    case TaskKind::some_entries:
      return {8, 32};
    case TaskKind::many_entries:
      return {32, 512};
    default:
      return {256, 8192};
  }
}
HEDDLE_HD constexpr bool is_leaf(TaskKind kind) { return kind >= TaskKind::few_entries; }

/// The queue of a task, and the slots that its parts cover.
struct TaskWork {
  TaskKind kind;
  int slots;
};

/// A part of a node. `bits` are 0 where there is none; else bit 63 is set, bits 0 and 1 are the
/// kind of the node, and above them come its address, a multiple of 16, in 48 bits, its level in 4
/// and the number of the part in 8.
struct alignas(16) NodeTask {
  static constexpr unsigned long long max_address = 1ULL << 52;

  unsigned long long bits;
  Index row;  // in blocks of its level
  Index column;

  HEDDLE_INLINE static constexpr NodeTask make(unsigned long long address, NodeKind kind, int level,
                                               Index row, Index column) {
    return {1ULL << 63 | static_cast<unsigned long long>(level) << 50 | address >> 4 << 2 |
                static_cast<unsigned long long>(kind),
            row, column};
  }
  HEDDLE_INLINE constexpr NodeTask with_part(int part) const {
    return {bits | static_cast<unsigned long long>(part) << 54, row, column};
  }
  HEDDLE_INLINE constexpr bool is_there() const { return bits != 0; }
  HEDDLE_INLINE constexpr NodeKind kind() const { return static_cast<NodeKind>(bits & 3); }
  HEDDLE_INLINE constexpr unsigned long long address() const {
    return (bits >> 2 & ((1ULL << 48) - 1)) << 4;
  }
  HEDDLE_INLINE constexpr int level() const { return static_cast<int>(bits >> 50 & 15); }
  HEDDLE_INLINE constexpr int part() const { return static_cast<int>(bits >> 54 & 255); }
};

/// The queue of a node of this level and kind with `count` entries.
HEDDLE_HD constexpr TaskKind task_kind(int level, NodeKind kind, int count) {
  if (level > 0) {
    if (kind == NodeKind::dense) return TaskKind::dense_children;
    return count <= task_shape(TaskKind::few_children).slots ? TaskKind::few_children
                                                             : TaskKind::many_children;
  }
  if (kind == NodeKind::dense) return TaskKind::dense_entries;
  if (count <= task_shape(TaskKind::few_entries).slots) return TaskKind::few_entries;
  return count <= task_shape(TaskKind::some_entries).slots ? TaskKind::some_entries
                                                           : TaskKind::many_entries;
}

/// A node's entries if it is sparse, its places if it is dense.
HEDDLE_HD constexpr int slots_of_node(NodeKind kind, int count, int log2_size) {
  return kind == NodeKind::dense ? 1 << (2 * log2_size) : count;
}

}  // namespace heddle
