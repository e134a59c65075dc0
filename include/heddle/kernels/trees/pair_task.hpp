// Two nodes, one of each of two trees, that wait to be worked on together (Derler et al. 2017,
// sections 4.1 and 6). Shared by CPU and GPU.
#pragma once

#include "heddle/kernels/trees/node_task.hpp"

namespace heddle {

/// A part of a pair of nodes of one level and place, either of which may be missing. It is there if
/// both words are, so that these may be written one after the other.
struct alignas(16) PairTask {
  NodeTask a;  // with the place, as a has it, and the part
  NodeTask b;  // `row` is free for operations

  /// In place of a node that its tree does not have.
  HEDDLE_INLINE static constexpr NodeTask no_node(int level, Index row, Index column) {
    return NodeTask::make(0, NodeKind::coo1, level, row, column);
  }
  HEDDLE_INLINE static constexpr bool has_node(const NodeTask& task) { return task.address() != 0; }

  HEDDLE_INLINE constexpr PairTask with_part(int part) const { return {a.with_part(part), b}; }
  HEDDLE_INLINE constexpr bool is_there() const { return a.is_there() && b.is_there(); }
  HEDDLE_INLINE constexpr int level() const { return a.level(); }
  HEDDLE_INLINE constexpr int part() const { return a.part(); }
  HEDDLE_INLINE constexpr bool has_both() const { return has_node(a) && has_node(b); }
};

}  // namespace heddle
