// The diagonal of a tree, and the parts of it that another tree does not have.
#pragma once

#include <algorithm>
#include <cstddef>
#include <optional>
#include <vector>

#include "heddle/detail/trees/tree.hpp"
#include "heddle/export.hpp"

namespace heddle::detail {

/// The leaf on the diagonal whose first row is that of this block; empty if there is none.
struct HEDDLE_EXPORT DiagonalLeaf {
  Index block;
  std::optional<NodeReference> leaf;
};

/// Leaves on the diagonal, block after block. With `before`, a tree of the same sizes, only those
/// that the trees do not share, including leaves that are gone: shared nodes are not walked.
HEDDLE_EXPORT std::vector<DiagonalLeaf> diagonal_leaves(const Tree& tree, const Tree* before);

/// Calls `body(row, entry)` for the diagonal places in a leaf's rows; `entry` is null if there is
/// none.
template <class Body>
void for_each_on_diagonal(const Tree& tree, const DiagonalLeaf& at, const Body& body) {
  const Index size = tree.leaf.size();
  const Index first = at.block * size;
  const Index count = std::min(size, std::min(tree.rows, tree.columns) - first);
  const NodeView leaf = at.leaf ? tree.node(*at.leaf, 0) : NodeView{};
  for (Index k = 0; k < count; ++k) {
    const int payload = at.leaf ? leaf.find(tree.leaf.place_of(k, k)) : -1;
    body(first + k, payload < 0 ? nullptr
                                : reinterpret_cast<const std::byte*>(leaf.payloads()) +
                                      Offset(payload) * tree.leaf.payload_bytes);
  }
}

}  // namespace heddle::detail
