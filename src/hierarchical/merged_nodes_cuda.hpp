// Nodes that edits make of others, in a GPU's memory.
#pragma once

#include "base/unset_array.hpp"
#include "heddle/detail/tree.hpp"
#include "heddle/detail/tree_edit.hpp"

namespace heddle::cuda {

/// Changes to the entries of a level's nodes, in the order of a walk, and the nodes that they
/// touch.
struct TouchedLevel {
  NodeShape shape;
  int level = 0;

  UnsetArray<unsigned long long> key;  // as `place_in_walk`, from the bits of this level on
  UnsetArray<detail::EditAction> action;
  UnsetArray<Index> source;  // which payload a change puts there

  // Of the nodes.
  UnsetArray<Offset> first;          // of its changes; one more for the end
  UnsetArray<NodeReference> before;  // `no_node` for none
  UnsetArray<int> held;              // entries afterwards
  UnsetArray<Offset> byte;           // behind `begin`; one more for the end
  Offset begin = 0;                  // of the level in the new pool

  Offset changes() const { return static_cast<Offset>(key.size()); }
  Offset nodes() const { return static_cast<Offset>(before.size()); }
};
inline constexpr NodeReference no_node{~0ULL};

/// Payloads of changes: scalars that may be added, or references.
enum class PayloadWord { single, real, reference };

/// Writes the nodes of a level that hold something into a pool of zeros. `pools` are the addresses
/// of the pools that nodes before lie in, in the GPU's memory.
void write_merged(const TouchedLevel& level, const unsigned long long* pools, const void* payloads,
                  PayloadWord word, std::byte* pool, const Device& device);

}  // namespace heddle::cuda
