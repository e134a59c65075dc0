// Operations on a tree for its schedulers (Derler et al. 2017, sections 4 and 5): a class says what
// a leaf does and what an inner node queues. One text serves CPU and GPU.
#pragma once

#include "heddle/kernels/trees/node_task.hpp"
#include "heddle/kernels/trees/tree_form.hpp"

#ifdef __CUDACC_RTC__
#include "heddle/kernels/load.cuh"
#else
#include <atomic>
#endif

namespace heddle {

// `Lanes` below are the threads that share a task:
//   count              their number; 1 on a CPU, where one task covers a whole node
//   lane()             the calling one
//   part(task, slots)  the slots of the node that the task covers
//   turns(slots)       the largest number of slots of a part that one of them takes
//   of_warp            the number of those that join their sums, `warp_lane()` the calling one
// These are called by all of them:
//   sum(components)    sums each component over them
//   join(key, components)  adds those of adjacent threads with one key to the first of these, where
//                      it returns true
//   add(to, row, components)  adds to a row of n components each, unless the row is below 0

/// A range of the entries of a sparse node, or of the places of a dense one.
struct SlotRange {
  int begin;
  int end;
};

template <class S>
HEDDLE_INLINE void add_atomically(S* to, S value) {
#ifdef __CUDA_ARCH__
  atomicAdd(to, value);
#else
  std::atomic_ref<S>(*to).fetch_add(value, std::memory_order_relaxed);
#endif
}

/// Takes a number of its own for each caller.
HEDDLE_INLINE unsigned take_number(unsigned* counter) {
#ifdef __CUDA_ARCH__
  return atomicAdd(counter, 1);
#else
  return std::atomic_ref<unsigned>(*counter).fetch_add(1, std::memory_order_relaxed);
#endif
}

// Addresses are numbers that tasks carry.
// NOLINTBEGIN(performance-no-int-to-ptr)

/// The number of entries of the node at an address.
HEDDLE_INLINE int count_of_node(unsigned long long address) {
#ifdef __CUDA_ARCH__
  return static_cast<int>(__ldg(reinterpret_cast<const unsigned*>(address)));
#else
  return static_cast<int>(*reinterpret_cast<const unsigned*>(address));
#endif
}

/// `Count` scalars, in the widest pieces that a multiple of `Align` bytes allows.
template <int Count, int Align, class S>
HEDDLE_INLINE void read_scalars(S* to, const S* from) {
#ifdef __CUDACC_RTC__
  device::load_scalars<device::load_default, Count, Align>(to, from);
#else
  for (int k = 0; k < Count; ++k) to[k] = from[k];
#endif
}

/// Common to all operations on one tree: its nodes, as they are stored, and inner nodes that queue
/// their children. Derived classes are trivially copyable and define
///   leaf<kind>(task, lanes)   for the kinds of leaves, once for each task, in no order
///   items()                   the number of items to prepare, such as the scalars of a result
///   prepare(i)                for each of them, before the first leaf
///   refuse(i)                 spoils item i where a GPU could not launch a kernel; leaves may
///   still
///                             add to it, so NaN is the value that stays
struct TreeOperation {
  /// A task in the queues: a node, or several `NodeTask`s with the functions of one.
  using Task = NodeTask;
  /// Blocks of 256 threads that a GPU's multiprocessor should hold, which bounds their registers.
  static constexpr int blocks_of_multiprocessor = 4;

  const unsigned long long* pools;  // addresses
  NodeShape shape;                  // of leaves

  HEDDLE_INLINE NodeTask task_of(NodeReference at, int level, Index row, Index column) const {
    return NodeTask::make(pools[at.pool()] + static_cast<unsigned long long>(at.byte()), at.kind(),
                          level, row, column);
  }
  HEDDLE_INLINE NodeView node_of(const NodeTask& task) const {
    return {reinterpret_cast<const unsigned char*>(task.address()), task.kind(),
            task.level() == 0 ? shape : NodeShape{shape.log2_size, int{sizeof(NodeReference)}, 0}};
  }

  /// The root as it is queued, or worked on if it is a leaf.
  HEDDLE_INLINE NodeTask begin(const NodeTask& root) const { return root; }
  HEDDLE_INLINE TaskWork work_of(const NodeTask& task) const {
    const int count = count_of_node(task.address());
    return {task_kind(task.level(), task.kind(), count),
            slots_of_node(task.kind(), count, shape.log2_size)};
  }

  /// The child in a slot of an inner node, which is not there where a dense node has none.
  HEDDLE_INLINE NodeTask child_of(const NodeTask& task, const NodeView& node, int slot) const {
    if (node.kind == NodeKind::dense && !node.has(slot)) return {};
    const LocalPlace place =
        node.kind == NodeKind::dense ? node.shape.place_at(slot) : node.places()[slot];
    const auto* const children = reinterpret_cast<const NodeReference*>(node.payloads());
    return task_of(children[slot], task.level() - 1, task.row << shape.log2_size | place.row,
                   task.column << shape.log2_size | place.column);
  }

  /// Queues the children of an inner node. All lanes of a block of threads call it, those without a
  /// task too, and `push` as often.
  template <class Lanes, class Push>
  HEDDLE_INLINE void expand(const NodeTask& task, const Lanes& lanes, const Push& push) const {
    const NodeView node = node_of(task);
    const int slots = task.is_there() ? slots_of_node(node.kind, node.count(), shape.log2_size) : 0;
    const SlotRange part = lanes.part(task, slots);
    for (int turn = 0; turn < lanes.turns(slots); ++turn) {
      const int slot = part.begin + turn * lanes.count + lanes.lane();
      push(slot < part.end ? child_of(task, node, slot) : NodeTask{});
    }
  }
};

/// y = alpha times A, A* or A^T times x, plus beta y, for AoS fields (algorithm 1 of the paper).
template <class E, class S, detail::TreeForm form>
struct TreeProductOperation : TreeOperation {
  using A = detail::applied_entry_t<form, E>;
  using V = vector_entry_t<A>;
  using R = result_entry_t<A>;
  using T = typename R::scalar;
  static constexpr bool is_transposed = form != detail::TreeForm::direct;
  /// Entries of a sparse leaf that a thread of a GPU reads at once.
  static constexpr int run = int(sizeof(E)) <= 16 ? 2 : 1;
  static constexpr int blocks_of_multiprocessor = int(sizeof(E)) <= 8 ? 6 : 4;

  const S* x;
  S* y;
  T alpha;
  T beta;
  Index rows_of_x;
  Index rows_of_y;

  HEDDLE_INLINE Offset items() const { return Offset(rows_of_y) * R::components; }
  HEDDLE_INLINE void prepare(Offset i) const {
    if (beta != 1) y[i] = beta == 0 ? S(0) : static_cast<S>(beta * y[i]);
  }
  HEDDLE_INLINE void refuse(Offset i) const { y[i] = static_cast<S>(0.0 / 0.0); }

  template <TaskKind kind, class Lanes>
  HEDDLE_INLINE void leaf(const NodeTask& task, const Lanes& lanes) const {
    const NodeView node = node_of(task);
    const SlotRange part =
        lanes.part(task, slots_of_node(node.kind, node.count(), shape.log2_size));
    const Index row = task.row << shape.log2_size, column = task.column << shape.log2_size;
    const Index of_x = is_transposed ? row : column, of_y = is_transposed ? column : row;
    const Leaf leaf{node, x + Offset(of_x) * V::components, y + Offset(of_y) * R::components,
                    rows_of_x - of_x, rows_of_y - of_y};
    if constexpr (kind != TaskKind::dense_entries) {
      add_sparse(leaf, part, lanes);
    } else if constexpr (is_transposed) {
      add_columns(leaf, part, lanes);
    } else {
      add_rows(leaf, part, lanes);
    }
  }

 private:
  /// A leaf, its blocks of x and y, and their rows to the end of the fields.
  struct Leaf {
    NodeView node;
    const S* x;
    S* y;
    Index rows_of_x;
    Index rows_of_y;
  };

  HEDDLE_INLINE static E entry_at(const NodeView& node, int slot) {
    E entry;
    read_scalars<E::components, 8>(entry.component,
                                   reinterpret_cast<const stored_scalar_t<E>*>(node.payloads()) +
                                       Offset(slot) * E::components);
    return entry;
  }
  /// 0 beyond the end, where dense leaves reach.
  HEDDLE_INLINE static V x_at(const Leaf& leaf, int row) {
    if (row >= leaf.rows_of_x) return zero_vector<V>();
    S own[V::components];
    read_scalars<V::components, 16>(own, leaf.x + row * V::components);
    V v;
    for (int k = 0; k < V::components; ++k) {
      v.component[k] = static_cast<typename V::scalar>(own[k]);
    }
    return v;
  }
  template <class Lanes>
  HEDDLE_INLINE void add_to_y(const Leaf& leaf, int row, const R& sum, const Lanes& lanes) const {
    S scaled[R::components];
    for (int k = 0; k < R::components; ++k) scaled[k] = static_cast<S>(alpha * sum.component[k]);
    lanes.add(leaf.y, row, scaled);
  }
  HEDDLE_INLINE static int row_of_x(LocalPlace place) {
    return is_transposed ? place.row : place.column;
  }
  HEDDLE_INLINE static int row_of_y(LocalPlace place) {
    return is_transposed ? place.column : place.row;
  }

  /// Entries come by rows: a thread alone adds those of one row before they go to y.
  template <class Lanes>
  HEDDLE_INLINE void add_alone(const Leaf& leaf, const SlotRange& part, const Lanes& lanes) const {
    int at = -1;
    R sum = zero_vector<R>();
    for (int slot = part.begin; slot < part.end; ++slot) {
      const LocalPlace place = leaf.node.places()[slot];
      if (row_of_y(place) != at) {
        if (at >= 0) add_to_y(leaf, at, sum, lanes);
        at = row_of_y(place);
        sum = zero_vector<R>();
      }
      multiply_add(sum, detail::as_applied<form>(load(entry_at(leaf.node, slot))),
                   x_at(leaf, row_of_x(place)));
    }
    if (at >= 0) add_to_y(leaf, at, sum, lanes);
  }

  /// Same for threads that take adjacent entries.
  template <class Lanes>
  HEDDLE_INLINE void add_sparse(const Leaf& leaf, const SlotRange& part, const Lanes& lanes) const {
    if constexpr (Lanes::count == 1) return add_alone(leaf, part, lanes);
    for (int first = part.begin; first < part.end; first += Lanes::count * run) {
      int to[run];
      R product[run];
      for (int i = 0; i < run; ++i) {
        const int slot = first + i * Lanes::count + lanes.lane();
        to[i] = -1;
        product[i] = zero_vector<R>();
        if (slot >= part.end) continue;
        const LocalPlace place = leaf.node.places()[slot];
        to[i] = row_of_y(place);
        multiply_add(product[i], detail::as_applied<form>(load(entry_at(leaf.node, slot))),
                     x_at(leaf, row_of_x(place)));
      }
      for (int i = 0; i < run; ++i) {
        const bool is_first = lanes.join(to[i], product[i].component);
        add_to_y(leaf, is_first ? to[i] : -1, product[i], lanes);
      }
    }
  }

  /// Rows of a dense leaf, whose columns the lanes of a warp share; a GPU takes several at once
  /// where their sums are short.
  template <class Lanes>
  HEDDLE_INLINE void add_rows(const Leaf& leaf, const SlotRange& part, const Lanes& lanes) const {
    constexpr int rows = Lanes::count > 1 && int(sizeof(R)) <= 8 ? 4 : 1;
    constexpr int warps = Lanes::count / Lanes::of_warp;
    const int size = shape.size(), end = part.end >> shape.log2_size;
    for (int row = (part.begin >> shape.log2_size) + lanes.lane() / Lanes::of_warp * rows;
         row < end; row += warps * rows) {
      R sum[rows];
      for (int i = 0; i < rows; ++i) sum[i] = zero_vector<R>();
      for (int column = lanes.warp_lane(); column < size; column += Lanes::of_warp) {
        const V with = x_at(leaf, column);
        for (int i = 0; i < rows; ++i) {
          const int slot = (row + i) << shape.log2_size | column;
          const E entry = entry_at(leaf.node, slot);
          if (leaf.node.has(slot)) {
            multiply_add(sum[i], detail::as_applied<form>(load(entry)), with);
          }
        }
      }
      for (int i = 0; i < rows; ++i) {
        lanes.sum(sum[i].component);
        const bool adds = lanes.warp_lane() == 0 && row + i < leaf.rows_of_y;
        add_to_y(leaf, adds ? row + i : -1, sum[i], lanes);
      }
    }
  }

  /// Columns of a dense leaf, whose rows the lanes of one column share.
  template <class Lanes>
  HEDDLE_INLINE void add_columns(const Leaf& leaf, const SlotRange& part,
                                 const Lanes& lanes) const {
    const int size = shape.size(), end = part.end >> shape.log2_size;
    const int sharing = Lanes::count > size ? Lanes::count >> shape.log2_size : 1;
    for (int column = lanes.lane() & (size - 1); column < size; column += Lanes::count) {
      R sum = zero_vector<R>();
      const int first = (part.begin >> shape.log2_size) + (lanes.lane() >> shape.log2_size);
      for (int row = first; row < end; row += sharing) {
        const int slot = row << shape.log2_size | column;
        const E entry = entry_at(leaf.node, slot);
        if (leaf.node.has(slot)) {
          multiply_add(sum, detail::as_applied<form>(load(entry)), x_at(leaf, row));
        }
      }
      add_to_y(leaf, first < end && column < leaf.rows_of_y ? column : -1, sum, lanes);
    }
  }
};

// NOLINTEND(performance-no-int-to-ptr)

}  // namespace heddle
