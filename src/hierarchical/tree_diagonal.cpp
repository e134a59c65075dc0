#include "heddle/detail/trees/tree_diagonal.hpp"

namespace heddle::detail {

namespace {

/// A node of a tree, if the tree has it.
struct DiagonalNode {
  const Tree* tree;
  std::optional<NodeReference> node;

  const unsigned char* memory(int level) const {
    return node ? tree->node(*node, level).data : nullptr;
  }
  DiagonalNode child(int level, Index k) const {
    if (!node) return *this;
    const NodeView inner = tree->node(*node, level);
    const int payload = inner.find(inner.shape.place_of(k, k));
    return {tree, payload < 0 ? std::nullopt : std::optional(child_at(inner, payload))};
  }
};

void walk(const DiagonalNode& now, const DiagonalNode& before, int level, Index block,
          std::vector<DiagonalLeaf>& leaves) {
  if (now.memory(level) == before.memory(level)) return;
  if (level == 0) return leaves.push_back({block, now.node});
  const Index size = now.tree->leaf.size();
  for (Index k = 0; k < size; ++k) {
    walk(now.child(level, k), before.child(level, k), level - 1, block * size + k, leaves);
  }
}

std::optional<NodeReference> root_of(const Tree* tree) {
  return tree != nullptr && tree->entries > 0 ? std::optional(tree->root) : std::nullopt;
}

}  // namespace

std::vector<DiagonalLeaf> diagonal_leaves(const Tree& tree, const Tree* before) {
  std::vector<DiagonalLeaf> leaves;
  walk({&tree, root_of(&tree)}, {before, root_of(before)},
       levels_of(tree.rows, tree.columns, tree.leaf.log2_size) - 1, 0, leaves);
  return leaves;
}

}  // namespace heddle::detail
