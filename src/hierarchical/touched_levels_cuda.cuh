// How edits touch the nodes of a tree on a GPU, level by level.
#pragma once

#include <algorithm>
#include <vector>

#include "base/sort_cuda.hpp"
#include "base/unset_array.hpp"
#include "heddle/detail/trees/tree.hpp"
#include "heddle/detail/trees/tree_edit.hpp"
#include "hierarchical/pools/walk_order.hpp"
#include "merged_nodes_cuda.hpp"

namespace heddle::cuda {

/// Faults in edits; zeros if there are none.
struct EditFaults {
  unsigned long long missing;    // ~ of the first edit that removes a missing entry
  unsigned long long malformed;  // one beyond the matrix, or two in one place: the host says which
};

/// The increase in what the nodes of a level hold, and their bytes.
struct CountedNodes {
  Offset nodes;
  int more[node_kinds];
  long long more_items;
  long long bytes_before;
  long long bytes_after;
};

/// The counts that one kernel makes for all levels. The bytes that each pool frees follow it.
struct CountedLevels {
  EditFaults faults;
  NodeReference root;  // afterwards, if it holds something
  CountedNodes level[max_levels];
};

/// A tree as kernels see it.
struct TreeView {
  const unsigned long long* pools;
  NodeReference root;
  NodeShape leaf;
  int levels;
  bool is_empty;

  __device__ NodeShape shape(int level) const {
    return level == 0 ? leaf : NodeShape{leaf.log2_size, int{sizeof(NodeReference)}};
  }
  __device__ NodeView view(NodeReference at, int level) const {
    const unsigned long long address =
        pools[at.pool()] + static_cast<unsigned long long>(at.byte());
    return {reinterpret_cast<const unsigned char*>(address), at.kind(), shape(level)};
  }
  /// The node of a level at this place in a walk, or `no_node`.
  __device__ NodeReference find(unsigned long long node, int level) const {
    if (is_empty) return no_node;
    NodeReference at = root;
    for (int above = levels - 1; above > level; --above) {
      const NodeView inner = view(at, above);
      const unsigned long long child = node >> (2 * leaf.log2_size * (above - level - 1));
      const int payload = inner.find(
          inner.shape.place_at(heddle::detail::position_in_node(child, above, leaf.log2_size)));
      if (payload < 0) return no_node;
      at = reinterpret_cast<const NodeReference*>(inner.payloads())[payload];
    }
    return at;
  }
};

/// The changes of all levels, and room for the nodes that they touch.
class TouchedLevels {
 public:
  /// Takes edits of entries, and sorts them into the order of a walk.
  TouchedLevels(const heddle::detail::Tree& tree, int levels,
                const UnsetArray<heddle::detail::PlacedEdit>& edits, const Device& device);

  /// Finds the nodes, counts what they hold afterwards, and names them as nodes of a pool numbered
  /// `pool`, one level after another, in one kernel: the host waits for it once. Returns the
  /// counts, and the bytes that each of `pools` pools frees.
  std::pair<CountedLevels, std::vector<unsigned long long>> count(const TreeView& tree, int pool,
                                                                  std::size_t pools);

  /// The touched nodes, by level.
  const std::vector<TouchedNodes>& nodes() const { return nodes_; }

 private:
  struct LevelStorage {
    UnsetArray<unsigned long long> key;
    UnsetArray<heddle::detail::EditAction> action;
    UnsetArray<Index> source, number, first;
    UnsetArray<NodeReference> before, after;
    UnsetArray<int> held;
    UnsetArray<Offset> byte;
  };

  Device device_;
  Offset edits_;
  SortBuffers sorted_;
  Array<unsigned long long> counted_;  // `CountedLevels`, and what pools free
  std::vector<LevelStorage> storage_;
  std::vector<TouchedNodes> nodes_;
};

}  // namespace heddle::cuda
