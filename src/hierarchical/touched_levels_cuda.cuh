// How edits touch the nodes of a tree on a GPU, level by level.
#pragma once

#include <limits>

#include "base/unset_array.hpp"
#include "heddle/array.hpp"
#include "heddle/detail/tree.hpp"
#include "heddle/detail/tree_edit.hpp"
#include "merged_nodes_cuda.hpp"
#include "walk_order.hpp"

namespace heddle::cuda {

inline constexpr auto no_edit = std::numeric_limits<unsigned long long>::max();

/// What is wrong with edits: the first one that removes what is not there, or `no_edit`; whether
/// one is beyond the matrix, or two name one place, which the host words.
struct EditFaults {
  unsigned long long missing;
  unsigned long long malformed;
};

/// What the nodes of a level hold more than before, and their bytes; and what is wrong so far.
struct CountedNodes {
  EditFaults faults;
  int more[node_kinds];
  long long more_items;
  long long bytes_before;
  long long bytes_after;
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

/// The edits of entries, in the order of a walk. `faults` tells what is malformed.
TouchedLevel sorted_edits(const heddle::detail::Tree& tree, int levels,
                          const Array<heddle::detail::PlacedEdit>& edits, EditFaults* faults,
                          const Device& device);

/// Finds the nodes that the changes of a level touch, and counts what they hold afterwards and more
/// than before; `faults` takes down what is missing. Adds the bytes of the nodes before to those
/// that each pool frees.
CountedNodes count_level(const TreeView& tree, TouchedLevel& level, EditFaults* faults,
                         unsigned long long* freed_of_pool, const Device& device);

/// What changes in the level above where the nodes of this one lie in pool `pool`; `child` names
/// them.
TouchedLevel changes_above(const TouchedLevel& touched, const NodeShape& shape_above, int pool,
                           UnsetArray<NodeReference>& child, const Device& device);

}  // namespace heddle::cuda
