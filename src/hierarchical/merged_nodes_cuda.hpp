// Nodes that edits make from others, in a GPU's memory.
#pragma once

#include <span>

#include "heddle/detail/trees/tree.hpp"
#include "heddle/detail/trees/tree_edit.hpp"

namespace heddle::cuda {

inline constexpr NodeReference no_node{~0ULL};
/// Levels of a tree with nodes of four rows.
inline constexpr int max_levels = 16;

/// Changes to the entries of a level's nodes, in the order of a walk, and the nodes that they
/// touch: arrays in a GPU's memory.
struct TouchedNodes {
  NodeShape shape;
  int level;

  unsigned long long* key;  // like `place_in_walk`, from the bits of this level on
  detail::EditAction* action;
  Index* source;  // which payload a change puts there
  Index* number;  // the node that it touches

  // For each node.
  Index* first;           // first of its changes; one more for the end
  NodeReference* before;  // `no_node` for none
  NodeReference* after;
  int* held;     // entries afterwards
  Offset* byte;  // in the new pool
};

/// Scalars of entries that may be added.
enum class PayloadWord { single, real };

/// Writes the nodes that hold something into a pool of zeros: level k has count[k] of them. `pools`
/// are the addresses of the pools of the earlier nodes, in the GPU's memory, and `values` those of
/// the entries.
void write_merged(std::span<const TouchedNodes> levels, std::span<const Offset> count,
                  const unsigned long long* pools, const void* values, PayloadWord word,
                  std::byte* pool, const Device& device);

}  // namespace heddle::cuda
