// Leaves of compressed rows whose columns are sorted: a block of threads takes a block row, whose
// entries lie together and in the order of every leaf.
#pragma once

#include <optional>

#include "tree_levels_cuda.hpp"

namespace heddle::cuda {

/// Threads that take a block row: a warp if warps alone fill a GPU, and more for long ones.
enum class Team { warp = 32, small = 64, large = 256 };

/// The leaves of compressed rows.
struct LeavesOfRows {
  LevelOnGpu level;           // `first`, `position` and `source` stay empty
  UnsetArray<Offset> before;  // leaves before each block row; one more for the end
  Team team = Team::large;
  long long available = 0;  // bytes of the owner's memory that were free before the host waited
};

/// The leaves of rows in a GPU's memory, with good offsets and fewer than 2^31 entries. None if a
/// column is beyond the matrix or not above the one before it in its row, or if block rows do not
/// suit a block of threads: then `level_of` takes entry by entry. The arrays lie in memory of
/// `work`, which is the owner's in the end.
std::optional<LeavesOfRows> leaves_of_sorted_rows(const PatternView& pattern, Offset entries,
                                                  const NodeShape& shape, const Device& owner,
                                                  const Device& work);

/// Writes all bytes of all leaves into a pool; `level` is that of `leaves`.
void write_leaves(const LevelOnGpu& level, const LeavesOfRows& leaves, const PatternView& pattern,
                  const PayloadsOnGpu& payloads, unsigned char* pool, const Device& device);

}  // namespace heddle::cuda
