// An operation on trees, as in a user's header that the compilers of both the host and a GPU read.
#pragma once

#include "heddle/kernels/trees/tree_operation.hpp"

namespace heddle::test {

/// sums[row] = the absolute values of all components of the row's entries.
template <class E, class S>
struct AbsoluteRowSums : TreeOperation {
  S* sums;
  Index rows;

  HEDDLE_INLINE Offset items() const { return rows; }
  HEDDLE_INLINE void prepare(Offset row) const { sums[row] = 0; }
  HEDDLE_INLINE void refuse(Offset row) const { sums[row] = static_cast<S>(0.0 / 0.0); }

  template <TaskKind kind, class Lanes>
  HEDDLE_INLINE void leaf(const NodeTask& task, const Lanes& lanes) const {
    const NodeView node = node_of(task);
    const auto* const values = reinterpret_cast<const stored_scalar_t<E>*>(node.payloads());
    const SlotRange part =
        lanes.part(task, slots_of_node(node.kind, node.count(), shape.log2_size));
    for (int slot = part.begin + lanes.lane(); slot < part.end; slot += Lanes::count) {
      if (kind == TaskKind::dense_entries && !node.has(slot)) continue;
      const LocalPlace place =
          kind == TaskKind::dense_entries ? shape.place_at(slot) : node.places()[slot];
      S sum = 0;
      for (int k = 0; k < E::components; ++k) {
        const auto value = static_cast<S>(values[Offset(slot) * E::components + k]);
        sum += value < 0 ? -value : value;
      }
      add_atomically(sums + (Offset(task.row) << shape.log2_size) + place.row, sum);
    }
  }
};

}  // namespace heddle::test
