// The product of a tree with a field on the CPU by a walk over the tree: threads take inner nodes
// from one queue, put their children into it and add leaves to y atomically.
#pragma once

#include <atomic>
#include <memory>
#include <thread>

#include "heddle/detail/trees/tree.hpp"
#include "heddle/entries/row_product.hpp"
#include "heddle/kernels/trees/tree_form.hpp"
#include "heddle/tools/team.hpp"

namespace heddle::detail {

/// Inner nodes in the order in which they come. A thread draws the next one, and waits for it while
/// its parent is still being processed.
class NodeQueue {
 public:
  struct Node {
    NodeReference at;
    int level = 0;
    Index row = 0, column = 0;
  };

  explicit NodeQueue(std::size_t nodes) : nodes_(nodes), slots_(std::make_unique<Slot[]>(nodes)) {}

  void put(const Node& node) {
    Slot& slot = slots_[tail_.fetch_add(1, std::memory_order_relaxed)];
    slot.node = node;
    slot.is_there.store(true, std::memory_order_release);
  }
  /// False once all have been drawn.
  bool draw(Node& node) {
    const std::size_t own = head_.fetch_add(1, std::memory_order_relaxed);
    if (own >= nodes_) return false;
    while (!slots_[own].is_there.load(std::memory_order_acquire)) std::this_thread::yield();
    node = slots_[own].node;
    return true;
  }

 private:
  struct Slot {
    Node node;
    std::atomic<bool> is_there = false;
  };
  std::size_t nodes_;
  std::unique_ptr<Slot[]> slots_;
  std::atomic<std::size_t> head_ = 0, tail_ = 0;
};

/// Adds alpha times a leaf's results to y.
template <class E, TreeForm form, class S>
void add_leaf_atomically(const NodeView& leaf, Index block_row, Index block_column, S alpha,
                         const S* x, S* y) {
  using A = applied_entry_t<form, E>;
  using V = vector_entry_t<A>;
  using R = result_entry_t<A>;
  constexpr bool is_transposed = form != TreeForm::direct;
  const Offset first_row = Offset(block_row) << leaf.shape.log2_size;
  const Offset first_column = Offset(block_column) << leaf.shape.log2_size;
  const PackedValues<E> entries{reinterpret_cast<const stored_scalar_t<E>*>(leaf.payloads())};
  const PackedVector<V, S> own_x{x + (is_transposed ? first_row : first_column) * V::components};
  S* const own_y = y + (is_transposed ? first_column : first_row) * R::components;
  leaf.for_each([&](LocalPlace place, int payload) {
    R part = zero_vector<R>();
    multiply_add(part, as_applied<form>(load(entries(payload, 0))),
                 own_x(is_transposed ? place.row : place.column));
    S* const to = own_y + Offset(is_transposed ? place.column : place.row) * R::components;
    for (int k = 0; k < R::components; ++k) {
      std::atomic_ref<S>(to[k]).fetch_add(static_cast<S>(alpha * part.component[k]),
                                          std::memory_order_relaxed);
    }
  });
}

/// y += alpha A x in this form, for AoS fields.
template <class E, TreeForm form, class S>
void tree_walk(const Tree& tree, S alpha, const S* x, S* y, const Stream& stream) {
  if (tree.entries == 0) return;
  const int levels = levels_of(tree.rows, tree.columns, tree.leaf.log2_size);
  if (levels == 1) {
    return add_leaf_atomically<E, form>(tree.node(tree.root, 0), 0, 0, alpha, x, y);
  }
  NodeQueue queue(static_cast<std::size_t>(tree.memory.inner.nodes()));
  queue.put({tree.root, levels - 1, 0, 0});
  const int team = team_size(stream, tree.entries);
  parallel_for(team, team, 1, [&](int) {
    for (NodeQueue::Node node; queue.draw(node);) {
      const NodeView inner = tree.node(node.at, node.level);
      inner.for_each([&](LocalPlace place, int payload) {
        const NodeQueue::Node child{child_at(inner, payload), node.level - 1,
                                    (node.row << tree.leaf.log2_size) | place.row,
                                    (node.column << tree.leaf.log2_size) | place.column};
        if (child.level > 0) return queue.put(child);
        add_leaf_atomically<E, form>(tree.node(child.at, 0), child.row, child.column, alpha, x, y);
      });
    }
  });
}

}  // namespace heddle::detail
