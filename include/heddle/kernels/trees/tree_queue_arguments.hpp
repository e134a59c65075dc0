// Queues of nodes, through which a walk over a tree is scheduled on a GPU (Derler et al. 2017,
// section 4). Plain structs that the host fills in.
#pragma once

#include "heddle/kernels/trees/tree_node.hpp"

namespace heddle::device {

/// Inner nodes wait in one queue, leaves in one of three: leaves of one entry are for a thread,
/// those of up to 32 for eight threads, and larger or dense ones for a warp.
enum NodeQueue { queue_of_inner, queue_of_many, queue_of_few, queue_of_single };
inline constexpr int node_queues = 4;
inline constexpr unsigned few_entries_of_leaf = 32;

/// A node that waits. `node` is its address, with the kind in the lowest two bits and the level in
/// the highest eight; 0 until the rest is written, and again once it is taken.
struct alignas(16) QueuedNode {
  unsigned long long node;
  Index row;  // in blocks of its level
  Index column;
};

/// Each counter has a cache line to itself: heads, tails, and the leaves that are done.
inline constexpr int counter_stride = 32;
inline constexpr int queue_counters = (2 * node_queues + 1) * counter_stride;

/// M: scalars of fields, T: those of the sums of a row.
template <class M, class T>
struct TreeWalkArguments {
  QueuedNode* queues[node_queues];  // each with room for all of its nodes
  unsigned* counters;
  const unsigned long long* pools;  // addresses
  const M* x;
  M* y;
  T alpha, beta;
  NodeReference root;
  int level_of_root;
  unsigned leaves;
  Offset scalars_of_y;
};

}  // namespace heddle::device
