// What a product needs of a tree: its leaves in the order of their block rows, or for A* of their
// block columns.
#pragma once

#include <array>
#include <map>
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

/// Where leaves are: edits that make no leaf and empty none leave that as it is.
struct HEDDLE_EXPORT LeafPlaces {
  Array<Offset> first;  // of each block of y; blocks + 1
  Array<Index> block;   // of x, for each leaf; they grow within a block of y

  Index blocks() const { return first.empty() ? 0 : static_cast<Index>(first.size()) - 1; }
  long long bytes() const {
    return static_cast<long long>(first.size() * sizeof(Offset) + block.size() * sizeof(Index));
  }
};

struct HEDDLE_EXPORT LeafSchedule {
  std::shared_ptr<const LeafPlaces> places;                // schedules may share it
  std::shared_ptr<const Array<NodeReference>> references;  // of the leaf at each place

  Index blocks() const { return places->blocks(); }
  static long long bytes(Index blocks, Offset leaves) {
    return (blocks + 1LL) * static_cast<long long>(sizeof(Offset)) +
           leaves * static_cast<long long>(sizeof(Index) + sizeof(NodeReference));
  }
  long long bytes() const { return bytes(blocks(), static_cast<Offset>(references->size())); }
};

/// Bytes of parts that trees hold together, each once.
using HeldBytes = std::map<std::shared_ptr<const void>, long long>;

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
  /// Schedules that `before` has are mended when somebody asks for them, and kept until then. They
  /// are made anew where so many leaves have changed since that mending would take as long.
  ScheduledTree(EditedTree edited, const ScheduledTree& before, const Device& device);

  const Tree& tree() const { return tree_; }
  const LeafSchedule& schedule(bool by_columns) const;
  /// Of the tree's own nodes, and of the schedules that there are.
  HierarchicalMemory memory() const;
  /// Is there one, or one to mend?
  bool has_schedules() const;
  /// Adds pools, schedules that it has or keeps to mend them, and the changes of those.
  void add_to(HeldBytes& held) const;

 private:
  struct Schedule {
    std::shared_ptr<const LeafSchedule> whole;    // null before somebody asks for it
    std::shared_ptr<const LeafSchedule> earlier;  // of a tree before these changes
    std::vector<std::shared_ptr<const LeafChanges>> changes;
  };
  Schedule known(std::size_t k) const;

  Tree tree_;
  Device device_;
  mutable std::array<std::mutex, 2> making_;  // one thread makes a schedule
  mutable std::mutex reading_;                // never held for long: edits do not wait for making
  mutable std::array<Schedule, 2> schedules_;
};

}  // namespace heddle::detail
