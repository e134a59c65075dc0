// How a loop in one kernel shares a matrix out to its blocks: slices that follow one another, as
// even in slots and rows as slices allow.
#pragma once

#include <vector>

#include "heddle/csr.hpp"
#include "heddle/detail/sliced.hpp"
#include "heddle/plan.hpp"
#include "persistent_program.hpp"

namespace heddle {

/// Of no slice at all, one block with none.
struct BlockShares {
  std::vector<Index> first_slice;  // of each block, and behind the last one the number of slices
  // Of the block that has most of them:
  Index most_rows = 0;
  Offset most_slots = 0;
  Index most_slices = 0;

  int blocks() const { return static_cast<int>(first_slice.size()) - 1; }
};

/// Of a matrix in memory, wherever that is: so many blocks, but no more than slices, and at least
/// one.
BlockShares share_out(const SlicedPattern& A, int blocks);

/// What becomes of a pattern under a plan that has not been built; an order other than the natural
/// one before the sort is taken for the natural one. Takes a sort by counting.
BlockShares shares_of_blocks(const PatternView& pattern, const Plan& plan, int blocks);

/// Whether the vectors of a method with Jacobi, in rows of so many bytes, find room in the shared
/// memory of a GPU of so many multiprocessors, `shared_memory` bytes of a block.
bool vectors_fit_in_shared(cuda::PersistentMethod method, const PatternView& pattern,
                           const Plan& plan, int row_bytes, int multiprocessors,
                           long long shared_memory);

}  // namespace heddle
