// Division of a matrix among the blocks of a loop in one kernel: consecutive slices, as even in
// slots and rows as slices allow.
#pragma once

#include <vector>

#include "heddle/csr.hpp"
#include "heddle/detail/sliced.hpp"
#include "heddle/plan.hpp"
#include "persistent_program.hpp"

namespace heddle {

/// The default: one block, without slices.
struct BlockShares {
  std::vector<Index> first_slice;  // first slice of each block, then the number of slices
  // Maxima over all blocks:
  Index max_rows = 0;
  Offset max_slots = 0;
  Index max_slices = 0;

  int blocks() const { return static_cast<int>(first_slice.size()) - 1; }
};

/// The shares of a matrix in memory, wherever that is: `blocks` blocks, but no more than slices,
/// and at least one.
BlockShares share_out(const SlicedPattern& A, int blocks);

/// The shares of a pattern under a plan that has not been built. An order other than the natural
/// one before the sort is taken for the natural one. Costs a sort by counting.
BlockShares shares_of_blocks(const PatternView& pattern, const Plan& plan, int blocks);

/// True if the vectors of a method with Jacobi, in rows of `row_bytes` bytes, fit in the shared
/// memory of a GPU of `multiprocessors` multiprocessors, with `shared_memory` bytes per block.
bool vectors_fit_in_shared(cuda::PersistentMethod method, const PatternView& pattern,
                           const Plan& plan, int row_bytes, int multiprocessors,
                           long long shared_memory);

}  // namespace heddle
