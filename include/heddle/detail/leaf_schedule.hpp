// What a product needs of a tree: its leaves in the order of their block rows, or for A* of their
// block columns.
#pragma once

#include <array>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "heddle/array.hpp"
#include "heddle/detail/tree.hpp"
#include "heddle/detail/tree_edit.hpp"
#include "heddle/export.hpp"

namespace heddle::detail {

struct HEDDLE_EXPORT LeafSchedule {
  Array<Offset> first;        // of each block of y; blocks + 1
  Array<Index> block;         // of x, for each leaf; they grow within a block of y
  Array<NodeReference> leaf;  // lies there

  Index blocks() const { return first.empty() ? 0 : static_cast<Index>(first.size()) - 1; }
  static long long bytes(Index blocks, Offset leaves) {
    return (blocks + 1LL) * static_cast<long long>(sizeof(Offset)) +
           leaves * static_cast<long long>(sizeof(Index) + sizeof(NodeReference));
  }
  long long bytes() const { return bytes(blocks(), static_cast<Offset>(block.size())); }
};

/// By block rows for y = A x, by block columns for y = A* x.
LeafSchedule leaf_schedule(const Tree& tree, bool by_columns, const Device& device);

/// The schedule after some batches of changes to the leaves of the tree that `before` is of, later
/// ones last: the same as made anew, without a walk over the tree.
LeafSchedule mended_schedule(const LeafSchedule& before,
                             std::span<const std::shared_ptr<const LeafChanges>> batches,
                             bool by_columns, const Device& device);

/// A tree that never changes, and its schedules as soon as somebody asks for them.
class HEDDLE_EXPORT ScheduledTree {
 public:
  /// Schedules come from the memory of `device`.
  ScheduledTree(Tree tree, const Device& device) : tree_(std::move(tree)), device_(device) {}
  /// Schedules that `before` has are mended when somebody asks for them, and kept until then.
  ScheduledTree(EditedTree edited, const ScheduledTree& before, const Device& device);

  const Tree& tree() const { return tree_; }
  const LeafSchedule& schedule(bool by_columns) const;
  /// Of the tree's own nodes, and of the schedules that there are.
  HierarchicalMemory memory() const;
  /// Schedules that it has, or keeps to mend them.
  std::vector<std::shared_ptr<const LeafSchedule>> held_schedules() const;

 private:
  struct Schedule {
    std::shared_ptr<const LeafSchedule> whole;    // null before somebody asks for it
    std::shared_ptr<const LeafSchedule> earlier;  // of a tree before these changes
    std::vector<std::shared_ptr<const LeafChanges>> changes;
  };

  Tree tree_;
  Device device_;
  mutable std::mutex making_;
  mutable std::array<Schedule, 2> schedules_;
};

/// The leaves of a tree as a level to build another from; bytes are left out.
NodeLevel leaf_level(const Tree& tree, const LeafSchedule& by_rows, const Device& device);

/// The same tree with all its nodes in one pool, which no other tree shares.
HEDDLE_EXPORT Tree compacted(const Tree& tree, const Device& device);

}  // namespace heddle::detail
