// The walk over two trees at once that finds the leaves of their sum (Derler et al. 2017, section
// 6), for the schedulers of operations on trees. One text serves CPU and GPU.
#pragma once

#include "heddle/kernels/trees/pair_task.hpp"
#include "heddle/kernels/trees/tree_arguments.hpp"
#include "heddle/kernels/trees/tree_operation.hpp"

namespace heddle {

/// The leaves of a sum, in no order: arrays with room for the leaves of both trees together.
struct LeafRecords {
  device::TreeLeaf* a;  // `node` alone: the address of the leaf and its kind, or 0
  device::TreeLeaf* b;
  unsigned long long* place;  // block row and, in the lowest `column_bits`, block column
  int* held;                  // entries that a or b has; zeros before
  unsigned* count;            // 0 before
  int column_bits;
};

/// A + B, or A plus the transpose of B. `TreeOperation` has the pools of A, and its leaves.
struct TreeSumOperation : TreeOperation {
  using Task = PairTask;

  const unsigned long long* pools_of_b;
  LeafRecords records;
  bool transposes_b;

  HEDDLE_INLINE Offset items() const { return 0; }
  HEDDLE_INLINE void prepare(Offset) const {}
  HEDDLE_INLINE void refuse(Offset) const {}

  HEDDLE_INLINE PairTask begin(const PairTask& root) const {
    return root.level() == 0 ? recorded(root) : root;
  }
  HEDDLE_INLINE TaskWork work_of(const PairTask& task) const {
    const Pair pair = pair_of(task);
    if (task.level() > 0) {
      const NodeKind kind = pair.has_dense() ? NodeKind::dense : NodeKind::coo4;
      return {task_kind(task.level(), kind, pair.count()), slots_of(pair)};
    }
    const Side shorter = pair.a_is_shorter(shape) ? pair.a : pair.b;
    return {task_kind(0, shorter.node.kind, shorter.count), shorter.slots(shape)};
  }

  template <class Lanes, class Push>
  HEDDLE_INLINE void expand(const PairTask& task, const Lanes& lanes, const Push& push) const {
    const Pair pair = pair_of(task);
    const int slots = slots_of(pair);
    const SlotRange part = lanes.part(task, slots);
    for (int turn = 0; turn < lanes.turns(slots); ++turn) {
      const int slot = part.begin + turn * lanes.count + lanes.lane();
      push(slot < part.end ? child_of(task, pair, slot) : PairTask{});
    }
  }

  /// Takes the entries that both leaves have off the count of the pair: looks in the longer leaf
  /// for those of the shorter one.
  template <TaskKind kind, class Lanes>
  HEDDLE_INLINE void leaf(const PairTask& task, const Lanes& lanes) const {
    const Pair pair = pair_of(task);
    const bool a_is_shorter = pair.a_is_shorter(shape);
    const Side shorter = a_is_shorter ? pair.a : pair.b;
    const NodeView longer = a_is_shorter ? pair.b.node : pair.a.node;
    if constexpr (Lanes::count == 1 && kind == TaskKind::many_entries) {
      constexpr int few = 16;
      if (shorter.count > few && longer.kind != NodeKind::dense) {
        return add_atomically(records.held + task.b.row, -common_by_bits(shorter.node, longer));
      }
    }
    const SlotRange part = lanes.part(task, shorter.slots(shape));
    int common[1] = {0};
    for (int slot = part.begin + lanes.lane(); slot < part.end; slot += Lanes::count) {
      if (kind == TaskKind::dense_entries && !shorter.node.has(slot)) continue;
      const LocalPlace place =
          kind == TaskKind::dense_entries ? shape.place_at(slot) : shorter.node.places()[slot];
      if (longer.find(across(place)) >= 0) ++common[0];
    }
    lanes.sum(common);
    if (lanes.warp_lane() == 0) add_atomically(records.held + task.b.row, -common[0]);
  }

 private:
  struct Side {
    NodeView node;
    int count;  // 0 if there is no node

    HEDDLE_INLINE bool is_dense() const { return count > 0 && node.kind == NodeKind::dense; }
    HEDDLE_INLINE int slots(const NodeShape& shape) const {
      return slots_of_node(node.kind, count, shape.log2_size);
    }
    HEDDLE_INLINE int find(LocalPlace place) const { return count > 0 ? node.find(place) : -1; }
  };
  struct Pair {
    Side a, b;

    HEDDLE_INLINE int count() const { return a.count + b.count; }
    HEDDLE_INLINE bool has_dense() const { return a.is_dense() || b.is_dense(); }
    HEDDLE_INLINE bool a_is_shorter(const NodeShape& shape) const {
      return a.slots(shape) < b.slots(shape);
    }
  };

  HEDDLE_INLINE Side side_of(const NodeTask& task) const {
    return {node_of(task), PairTask::has_node(task) ? count_of_node(task.address()) : 0};
  }
  HEDDLE_INLINE Pair pair_of(const PairTask& task) const {
    return {side_of(task.a), side_of(task.b)};
  }
  /// A place of A as B has it, and the reverse.
  HEDDLE_INLINE LocalPlace across(LocalPlace place) const {
    return transposes_b ? LocalPlace{place.column, place.row} : place;
  }

  /// The entries that two sparse leaves both have, for a thread of a CPU: marks the places of one.
  HEDDLE_INLINE int common_by_bits(const NodeView& shorter, const NodeView& longer) const {
    constexpr int bits_of_word = 64;
    unsigned long long marks[256 * 256 / bits_of_word];
    for (int word = 0; Offset{word} * bits_of_word < shape.positions(); ++word) marks[word] = 0;
    longer.for_each([&](LocalPlace place, int) {
      const int position = shape.position_of(place);
      marks[position / bits_of_word] |= 1ULL << position % bits_of_word;
    });
    int common = 0;
    shorter.for_each([&](LocalPlace place, int) {
      const int position = shape.position_of(across(place));
      common += static_cast<int>(marks[position / bits_of_word] >> position % bits_of_word & 1);
    });
    return common;
  }

  /// The slots of an inner pair: all places if a node is dense or both hold that many together,
  /// else the children of a and then those of b.
  HEDDLE_INLINE bool goes_by_places(const Pair& pair) const {
    return pair.has_dense() || pair.count() > shape.positions();
  }
  HEDDLE_INLINE int slots_of(const Pair& pair) const {
    return goes_by_places(pair) ? static_cast<int>(shape.positions()) : pair.count();
  }
  /// The children in a slot; not there if the slot has none, or if another slot has the same.
  HEDDLE_INLINE PairTask child_of(const PairTask& task, const Pair& pair, int slot) const {
    const auto &a = pair.a, &b = pair.b;
    int in_a = -1, in_b = -1;
    LocalPlace place;
    if (goes_by_places(pair)) {
      place = shape.place_at(slot);
      in_a = a.find(place);
      in_b = b.find(across(place));
    } else if (slot < a.count) {
      in_a = slot;
      place = a.node.places()[slot];
      in_b = b.find(across(place));
    } else {
      place = across(b.node.places()[slot - a.count]);
      if (a.find(place) < 0) in_b = slot - a.count;
    }
    if (in_a < 0 && in_b < 0) return {};
    const int level = task.level() - 1;
    const Index row = task.a.row << shape.log2_size | place.row;
    const Index column = task.a.column << shape.log2_size | place.column;
    const auto child = [&](const Side& of, int at, const unsigned long long* of_side) {
      if (at < 0) return PairTask::no_node(level, row, column);
      const NodeReference node = reinterpret_cast<const NodeReference*>(of.node.payloads())[at];
      return NodeTask::make(of_side[node.pool()] + static_cast<unsigned long long>(node.byte()),
                            node.kind(), level, row, column);
    };
    const PairTask made{child(a, in_a, pools), child(b, in_b, pools_of_b)};
    return level == 0 ? recorded(made) : made;
  }

  /// Records a pair of leaves. A task is left if both are there, whose common entries are still to
  /// be counted; it may run before what is stored here arrives, hence the sum of `held`.
  HEDDLE_INLINE PairTask recorded(PairTask task) const {
    const auto node = [](const NodeTask& of) {
      return PairTask::has_node(of) ? of.address() | static_cast<unsigned long long>(of.kind()) : 0;
    };
    const unsigned record = take_number(records.count);
    records.a[record] = {node(task.a), 0, 0};
    records.b[record] = {node(task.b), 0, 0};
    records.place[record] = static_cast<unsigned long long>(task.a.row) << records.column_bits |
                            static_cast<unsigned long long>(task.a.column);
    add_atomically(records.held + record, pair_of(task).count());
    if (!task.has_both()) return {};
    task.b.row = static_cast<Index>(record);
    return task;
  }
};

}  // namespace heddle
