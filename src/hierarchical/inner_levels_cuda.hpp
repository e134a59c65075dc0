// The levels above the leaves of a tree, made in a GPU's memory if there can be only few nodes.
#pragma once

#include <vector>

#include "merged_nodes_cuda.hpp"
#include "tree_levels_cuda.hpp"

namespace heddle::cuda {

/// The nodes of a level above the leaves, and their children, the nodes of the level below: arrays
/// in a GPU's memory.
struct NodesAbove {
  BlockBits blocks;  // the nodes
  Offset* before;    // the writable `blocks.before`
  // For each node, in the order of their block rows.
  Index* row;
  Index* column;
  int* held;
  int* taken;
  Offset* first;  // child
  Offset* byte;   // in the pool
  // The children of each node together, in any order.
  unsigned short* position;
  unsigned* child;
};

/// The counts that one kernel makes for all these levels.
struct CountedInner {
  Offset nodes[max_levels];
  int of_kind[node_kinds];
  long long items;
  long long bytes;
  int held_by_root;
};

/// All levels, for a kernel that counts them.
struct LevelsAbove {
  NodesAbove level[max_levels];
  int levels;
  NodeShape shape;
  Offset* of_block;  // `sums_of_a_block` for each block of threads
  CountedInner* counted;
};
inline constexpr std::size_t sums_of_a_block = 2 * max_levels;

/// One kernel counts all levels and the host waits for it once, whereas `LevelOnGpu` waits twice
/// per level.
class InnerLevels {
 public:
  /// True if the levels of a matrix are small enough.
  static bool suit(Index rows, Index columns, int log2_size);
  /// Counts the levels above leaves whose bytes are known and begin the pool.
  InnerLevels(const LevelOnGpu& leaves, int levels, const Device& device);
  /// Room for the levels above at most `max_leaves` leaves, which another class's kernel counts.
  InnerLevels(Index block_rows, Index block_columns, int log2_size, Offset max_leaves, int levels,
              const Device& device);
  LevelsAbove to_count(Offset* of_block);
  /// Takes over what that kernel has counted. The first node lies at byte `begin` of the pool.
  void take(const CountedInner& counted, Offset begin);

  const NodeCounts& counts() const { return counts_; }
  /// The root's reference; the tree has one level more than the leaves, or several.
  NodeReference root() const;
  /// Writes all bytes of all nodes into a pool.
  void write(const LevelOnGpu& leaves, unsigned char* pool, const Device& device) const;

 private:
  struct LevelStorage {
    UnsetArray<Index> row, column;
    UnsetArray<Offset> before, first, byte;
    UnsetArray<unsigned short> position;
    UnsetArray<unsigned> child;
  };

  Array<unsigned long long> zeros_;  // counts, bits, and what nodes hold
  std::vector<LevelStorage> storage_;
  std::vector<NodesAbove> levels_;  // from the one above the leaves upward
  CountedInner counted_{};
  NodeCounts counts_;
  NodeShape shape_;
  long long begin_ = 0;
};

}  // namespace heddle::cuda
