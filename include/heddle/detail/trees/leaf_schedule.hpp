// The part of a tree that a product needs: its leaves in the order of their block rows, or of their
// block columns for A*.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <limits>
#include <map>
#include <memory>
#include <mutex>
#include <span>
#include <utility>
#include <vector>

#include "heddle/array.hpp"
#include "heddle/detail/trees/tree.hpp"
#include "heddle/detail/trees/tree_edit.hpp"
#include "heddle/export.hpp"

namespace heddle::detail {

/// Numbers of blocks of x: in 16 bits if the matrix has no more blocks than these can number, else
/// in 32.
class HEDDLE_EXPORT BlockNumbers {
 public:
  BlockNumbers(Index blocks, std::size_t leaves, const Device& device)
      : is_narrow_(is_narrow(blocks)),
        narrow_(is_narrow_ ? leaves : 0, device),
        wide_(is_narrow_ ? 0 : leaves, device) {}

  /// Room for `leaves` other numbers of the same matrix.
  BlockNumbers sized(std::size_t leaves, const Device& device) const {
    return {is_narrow_ ? 0 : std::numeric_limits<Index>::max(), leaves, device};
  }

  std::size_t size() const { return is_narrow_ ? narrow_.size() : wide_.size(); }
  Index operator[](std::size_t i) const { return is_narrow_ ? Index{narrow_[i]} : wide_[i]; }
  void set(std::size_t i, Index block) {
    if (is_narrow_) {
      narrow_[i] = static_cast<std::uint16_t>(block);
    } else {
      wide_[i] = block;
    }
  }
  /// Copies numbers of the same matrix.
  void copy(const BlockNumbers& others, Offset from, Offset count, Offset to) {
    if (is_narrow_) {
      std::copy_n(others.narrow_.data() + from, count, narrow_.data() + to);
    } else {
      std::copy_n(others.wide_.data() + from, count, wide_.data() + to);
    }
  }
  /// The first place in [begin, end), where numbers ascend, of a number that is at least `block`.
  Offset first_from(Index block, Offset begin, Offset end) const {
    const auto in = [&](const auto* numbers) {
      return std::lower_bound(numbers + begin, numbers + end, block) - numbers;
    };
    return is_narrow_ ? in(narrow_.data()) : in(wide_.data());
  }
  long long bytes() const { return static_cast<long long>(size()) * bytes_of(is_narrow_); }
  /// Bytes of one number.
  static long long bytes(Index blocks) { return bytes_of(is_narrow(blocks)); }

 private:
  static bool is_narrow(Index blocks) { return blocks <= 1 << 16; }
  static long long bytes_of(bool narrow) {
    return static_cast<long long>(narrow ? sizeof(std::uint16_t) : sizeof(Index));
  }

  bool is_narrow_;
  Array<std::uint16_t> narrow_;
  Array<Index> wide_;
};

/// The places of leaves. Edits that neither make nor empty a leaf leave them unchanged.
struct HEDDLE_EXPORT LeafPlaces {
  Array<Offset> first;  // leaf of each block of y; blocks + 1
  BlockNumbers block;   // the block of x for each leaf; ascending within a block of y

  Index blocks() const { return first.empty() ? 0 : static_cast<Index>(first.size()) - 1; }
  long long bytes() const {
    return static_cast<long long>(first.size() * sizeof(Offset)) + block.bytes();
  }
};

struct HEDDLE_EXPORT LeafSchedule {
  std::shared_ptr<const LeafPlaces> places;                // schedules may share it
  std::shared_ptr<const Array<NodeReference>> references;  // the leaf at each place

  Index blocks() const { return places->blocks(); }
  /// Bytes for these numbers of blocks of y, blocks of x and leaves.
  static long long bytes(Index blocks, Index blocks_of_x, Offset leaves) {
    return (blocks + 1LL) * static_cast<long long>(sizeof(Offset)) +
           leaves *
               (BlockNumbers::bytes(blocks_of_x) + static_cast<long long>(sizeof(NodeReference)));
  }
  long long bytes() const {
    return places->bytes() + static_cast<long long>(references->size() * sizeof(NodeReference));
  }
};

/// Bytes of the parts that trees share, each counted once.
using HeldBytes = std::map<std::shared_ptr<const void>, long long>;

/// By block rows for y = A x, by block columns for y = A* x.
LeafSchedule leaf_schedule(const Tree& tree, bool by_columns, const Device& device);

/// The schedule after batches of changes to the leaves of the tree of `before`, later batches last:
/// the same as made anew, without a walk over the tree.
LeafSchedule mended_schedule(const LeafSchedule& before,
                             std::span<const std::shared_ptr<const LeafChanges>> batches,
                             bool by_columns, const Device& device);

/// A tree that never changes, and its schedules once they are requested.
class HEDDLE_EXPORT ScheduledTree {
 public:
  /// Schedules come from the memory of `device`.
  ScheduledTree(Tree tree, const Device& device) : tree_(std::move(tree)), device_(device) {}
  /// Schedules of `before` are kept, and mended on request. They are made anew if so many leaves
  /// have changed since that mending would take as long.
  ScheduledTree(EditedTree edited, const ScheduledTree& before, const Device& device);

  const Tree& tree() const { return tree_; }
  const LeafSchedule& schedule(bool by_columns) const;
  /// Memory of the tree's own nodes, and of the schedules that exist.
  HierarchicalMemory memory() const;
  /// True if there is a schedule, or one to mend.
  bool has_schedules() const;
  /// Adds pools, schedules that the tree has or keeps to mend, and their changes.
  void add_to(HeldBytes& held) const;

 private:
  struct Schedule {
    std::shared_ptr<const LeafSchedule> whole;    // null before the first request
    std::shared_ptr<const LeafSchedule> earlier;  // for a tree before these changes
    std::vector<std::shared_ptr<const LeafChanges>> changes;
  };
  Schedule known(std::size_t k) const;

  Tree tree_;
  Device device_;
  mutable std::array<std::mutex, 2> making_;  // one thread makes a schedule
  mutable std::mutex reading_;                // never held for long: edits do not wait for making
  mutable std::array<Schedule, 2> schedules_;
};

/// A new tree, with the given launch.
inline std::shared_ptr<const ScheduledTree> scheduled(Tree tree, const TreeLaunch& launch,
                                                      const Device& device) {
  tree.launch = launch;
  return std::make_shared<const ScheduledTree>(std::move(tree), device);
}

}  // namespace heddle::detail
