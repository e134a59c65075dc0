// The order in which a walk visits the entries of a tree. Index arithmetic only, shared by CPU and
// GPU.
#pragma once

#include "heddle/entries/slots.hpp"

namespace heddle::detail {

/// Bits of a row or column that give the position in a level's nodes: fewer on the last level.
HEDDLE_INLINE constexpr int bits_of_level(int level, int log2_size) {
  constexpr int bits = 31;
  return log2_size < bits - level * log2_size ? log2_size : bits - level * log2_size;
}

/// Ascends in the order of a walk over a tree with nodes of 2^log2_size rows and columns: the
/// position in the root, then in its child, and so on, 62 bits in all. The lowest 2 log2_size bits
/// are the position in the leaf, those above them that of the leaf in its parent.
HEDDLE_INLINE constexpr unsigned long long place_in_walk(Index row, Index column, int log2_size) {
  unsigned long long key = 0;
  for (int level = 30 / log2_size; level >= 0; --level) {
    const int bits = bits_of_level(level, log2_size), shift = level * log2_size;
    const unsigned long long mask = (1ULL << bits) - 1;
    key = key << bits | (static_cast<unsigned long long>(row >> shift) & mask);
    key = key << bits | (static_cast<unsigned long long>(column >> shift) & mask);
  }
  return key;
}

/// The node that holds an entry of its level, and the position there. Keys begin with the bits of
/// the level.
HEDDLE_INLINE constexpr unsigned long long node_in_walk(unsigned long long key, int log2_size) {
  return key >> (2 * log2_size);
}
HEDDLE_INLINE constexpr int position_in_node(unsigned long long key, int level, int log2_size) {
  const int bits = bits_of_level(level, log2_size);
  const unsigned long long mask = (1ULL << bits) - 1;
  return static_cast<int>((key >> bits & mask) << log2_size | (key & mask));
}

}  // namespace heddle::detail
