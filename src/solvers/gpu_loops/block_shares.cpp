#include "block_shares.hpp"

#include <algorithm>
#include <span>

#include "heddle/kernels/persistent_arguments.hpp"
#include "matrix/slice_shapes.hpp"
#include "spmv/row_lengths.hpp"

namespace heddle {

namespace {

/// `slots_before` and `rows_before`: one number per slice, and the total; the same length, 1 or
/// more.
BlockShares share_out(std::span<const Offset> slots_before, std::span<const Index> rows_before,
                      int blocks) {
  const auto slices = static_cast<Index>(slots_before.size()) - 1;
  blocks = std::max(1, std::min(blocks, slices));
  const auto slots = [&](Index slice) { return slots_before[static_cast<std::size_t>(slice)]; };
  const auto rows = [&](Index slice) { return rows_before[static_cast<std::size_t>(slice)]; };
  // A slice costs its slots, and its lanes' rows in vector work.
  const auto cost = [&](Index slice) {
    return static_cast<double>(slots(slice)) + 2.0 * rows(slice);
  };
  const double whole = cost(slices);
  BlockShares shares;
  shares.first_slice.reserve(static_cast<std::size_t>(blocks) + 1);
  Index slice = 0;
  for (int block = 0; block < blocks; ++block) {
    const Index begin = slice;
    const double until = whole * (block + 1) / blocks;
    const Index left_for_others = blocks - 1 - block;
    while (slice < slices - left_for_others &&
           (slice == begin || (cost(slice) + cost(slice + 1)) / 2 < until)) {
      ++slice;
    }
    if (block == blocks - 1) slice = slices;
    shares.first_slice.push_back(begin);
    shares.max_rows = std::max(shares.max_rows, rows(slice) - rows(begin));
    shares.max_slots = std::max(shares.max_slots, slots(slice) - slots(begin));
    shares.max_slices = std::max(shares.max_slices, slice - begin);
  }
  shares.first_slice.push_back(slices);
  return shares;
}

}  // namespace

BlockShares share_out(const SlicedPattern& A, int blocks) {
  const std::vector<Offset> slots_before = A.offset.to_host();
  std::vector<Index> rows_before = A.first_row.to_host();
  if (rows_before.empty()) {
    rows_before.resize(slots_before.size());
    for (std::size_t slice = 0; slice < rows_before.size(); ++slice) {
      rows_before[slice] =
          static_cast<Index>(std::min<Offset>(A.rows, static_cast<Offset>(slice) * (A.C / A.T)));
    }
  }
  return share_out(slots_before, rows_before, blocks);
}

BlockShares shares_of_blocks(const PatternView& pattern, const Plan& plan, int blocks) {
  const StoredLengths lengths = stored_lengths(pattern, plan);
  const PatternView stored = lengths.view();
  const Index C = detail::lanes_of(stored, plan);
  std::vector<Offset> slots = {0};
  std::vector<Index> rows = {0};
  detail::for_each_slice(stored, plan, {}, [&](const detail::SliceShape& slice) {
    slots.push_back(slots.back() + static_cast<Offset>(slice.steps) * C);
    rows.push_back(slice.first_row + slice.rows);
  });
  return share_out(slots, rows, blocks);
}

bool vectors_fit_in_shared(cuda::PersistentMethod method, const PatternView& pattern,
                           const Plan& plan, int row_bytes, int multiprocessors,
                           long long shared_memory) {
  const int blocks = std::min(multiprocessors, device::max_blocks);
  const long long rows = shares_of_blocks(pattern, plan, blocks).max_rows;
  const int vectors = cuda::needs_of(method, true, 1).vectors;
  return vectors * rows * row_bytes <= shared_memory - cuda::persistent_static_shared;
}

}  // namespace heddle
