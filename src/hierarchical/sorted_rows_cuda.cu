// A block of threads marks the block columns of its block row, whose ones number the leaves, and
// counts the entries of each.
#include "sorted_rows_cuda.hpp"

#include <utility>

#include "base/device_value.hpp"
#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "base/sort_cuda.hpp"
#include "block_row_cuda.cuh"
#include "heddle/detail/slice_arithmetic.hpp"

namespace heddle::cuda {

namespace {

constexpr int most_columns = 1 << 17;  // of blocks: their bits are in shared memory
constexpr int most_of_part = 1 << 15;  // entries that a warp takes one after the other
/// Block rows of so many entries in the mean are faster entry by entry.
constexpr int long_block_row = 1 << 13;

/// The leaves of block rows, before anybody knows how many there are in all: those of a block row
/// lie from its first entry on.
struct FoundLeaves {
  Index* column;
  int* held;
  Offset* leaves;  // of each block row; behind them what is not 0 where something does not suit
};

/// Between which block columns a block row lies, where its rows are sorted; and how often columns
/// fall from one row to the next, less in `room.falls`. All threads take part.
__device__ BlockColumns find_range(BlockRowRoom& room, const BlockRow& row,
                                   const PatternView& pattern, const NodeShape& shape) {
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    room.least = pattern.columns;
    room.greatest = -1;
    room.falls = 0;
  }
  __syncthreads();
  for (int r = thread; r < row.rows; r += block_size) {
    const int begin = room.begin[r], end = room.begin[r + 1];
    if (begin == end) continue;
    const Index first = row.column[begin];
    atomicMin(&room.least, first);
    atomicMax(&room.greatest, row.column[end - 1]);
    if (begin > 0 && first <= row.column[begin - 1]) atomicSub(&room.falls, 1);
  }
  __syncthreads();
  const auto inside = [&](Index column) { return min(max(column, 0), pattern.columns - 1); };
  const Index least = shape.block_of(inside(room.least));
  return BlockColumns::between(least, max(least, shape.block_of(inside(room.greatest))));
}

/// The columns of a thread, and for lane 0 those before them.
struct LoadedColumns {
  LoadedEntries<Index> own, before;

  __device__ void load(const BlockRow& row, const ShareOfWarp& share, int first) {
    share.load(row.column, own, first);
    if (threadIdx.x % 32 != 0) return;
#pragma unroll
    for (int k = 0; k < LoadedEntries<Index>::at_once; ++k) {
      const int e = first + k * share.step;
      before.value[k] = e > 0 && e < share.end ? row.column[e - 1] : -1;
    }
  }
};

/// Marks the block columns of a block row. False where a column is beyond the matrix or not above
/// the one before it in its row. All threads take part.
__device__ bool mark_leaves(BlockRowRoom& room, const BlockRow& row, const PatternView& pattern,
                            const NodeShape& shape, const BlockColumns& columns,
                            const ShareOfWarp& share, LoadedColumns& loaded) {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  bool is_good = true;
  int falls = 0;
  share.for_each(
      true, [&](int first) { loaded.load(row, share, first); },
      [&](int base, int k) {
        const int e = base + lane;
        const Index column = loaded.own.value[k];
        Index last = __shfl_up_sync(all_lanes, column, 1);
        if (lane == 0) last = loaded.before.value[k];
        if (e >= row.entries) return;
        // Columns fall only where a row begins, which `find_range` has counted.
        if (e > 0 && column <= last) ++falls;
        if (column < 0 || column >= pattern.columns || !columns.covers(shape.block_of(column))) {
          is_good = false;
        } else if (e == 0 || shape.block_of(last) != shape.block_of(column)) {
          columns.mark(shape.block_of(column));
        }
      });
  if (falls != 0) atomicAdd(&room.falls, falls);
  is_good = __syncthreads_and(is_good ? 1 : 0) != 0;
  return is_good && room.falls == 0;
}

__global__ void __launch_bounds__(block_size)
    find_leaves(PatternView pattern, NodeShape shape, FoundLeaves to) {
  __shared__ BlockRowRoom room;
  const auto thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const BlockRow row = open(room, pattern, shape);
  if (row.entries == 0) {
    if (thread == 0) to.leaves[blockIdx.x] = 0;
    return;
  }
  const ShareOfWarp share{thread - lane, row.entries, block_size};
  LoadedColumns loaded;
  loaded.load(row, share, share.begin);
  const BlockColumns columns = find_range(room, row, pattern, shape);
  columns.clear();
  __syncthreads();
  const bool is_good = mark_leaves(room, row, pattern, shape, columns, share, loaded);
  const int leaves = number_leaves(room, columns);
  if (!is_good || row.entries > Offset(parts_of(leaves)) * most_of_part) {
    if (thread == 0) to.leaves[gridDim.x + 1] = 1;
    return;
  }
  if (thread == 0) to.leaves[blockIdx.x] = leaves;
  int* const held = to.held + row.first;
  int* const count = leaves <= most_counts ? room.count : held;
  for (int leaf = thread; leaf < leaves; leaf += block_size) count[leaf] = 0;
  __syncthreads();
  share.for_each(
      share.is_loaded_at_once(), [&](int first) { share.load(row.column, loaded.own, first); },
      [&](int base, int k) {
        count_entry(
            base + lane < row.entries ? columns.number_of(shape.block_of(loaded.own.value[k])) : -1,
            count);
      });
  __syncthreads();
  for (int word = thread; word < columns.words; word += block_size) {
    unsigned leaf = columns.before()[word];
    for (unsigned left = columns.bits()[word]; left != 0; left &= left - 1) {
      to.column[row.first + leaf++] =
          columns.first + word * PlaceBits::bits_of_word + __ffs(static_cast<int>(left)) - 1;
    }
  }
  if (count == held) return;
  for (int leaf = thread; leaf < leaves; leaf += block_size) held[leaf] = count[leaf];
}

/// The leaves of all block rows one behind the other.
void pack_leaves(const FoundLeaves& from, const PatternView& pattern, LeavesOfRows& leaves,
                 const Device& device) {
  constexpr int rows_of_block = block_size / 32;
  const Offset block_rows = leaves.level.rows;
  for_each_thread(device.stream(), (block_rows + rows_of_block - 1) / rows_of_block,
                  [=, shift = leaves.level.shape.log2_size, before = leaves.before.data(),
                   row = leaves.level.row.data(), column = leaves.level.column.data(),
                   held = leaves.level.held.data()] __device__(Offset block, unsigned thread) {
                    const Offset block_row = block * rows_of_block + thread / 32;
                    if (block_row >= block_rows) return;
                    const Offset first = pattern.offsets[block_row << shift],
                                 to = before[block_row];
                    for (Offset k = thread % 32; k < before[block_row + 1] - to; k += 32) {
                      row[to + k] = static_cast<Index>(block_row);
                      column[to + k] = from.column[first + k];
                      held[to + k] = from.held[first + k];
                    }
                  });
}

}  // namespace

std::optional<LeavesOfRows> leaves_of_sorted_rows(const PatternView& pattern, Offset entries,
                                                  const NodeShape& shape, const Device& device) {
  LeavesOfRows leaves;
  LevelOnGpu& level = leaves.level;
  level.shape = shape;
  level.rows = static_cast<Index>(shape.blocks_of(pattern.rows));
  level.columns = static_cast<Index>(shape.blocks_of(pattern.columns));
  if (entries == 0 || level.columns > most_columns || entries / level.rows >= long_block_row) {
    return {};
  }
  const auto block_rows = static_cast<std::size_t>(level.rows);
  UnsetArray<Index> column(static_cast<std::size_t>(entries), device);
  UnsetArray<int> held(static_cast<std::size_t>(entries), device);
  leaves.before = UnsetArray<Offset>(block_rows + 2, device);
  heddle::detail::fill_bytes(leaves.before.data() + block_rows, 0, 2 * sizeof(Offset),
                             device.stream());
  const FoundLeaves found{column.data(), held.data(), leaves.before.data()};
  launch_by_block_rows(find_leaves, pattern.columns, level, device.stream(), pattern, shape, found);
  exclusive_sum(leaves.before.data(), level.rows + Offset(1), device);
  struct Result {
    Offset count;
    Offset unsuited;
  };
  const auto result =
      read_value(reinterpret_cast<const Result*>(leaves.before.data() + block_rows), device);
  if (result.unsuited != 0) return {};
  const auto nodes = static_cast<std::size_t>(result.count);
  level.count = result.count;
  level.row = UnsetArray<Index>(nodes, device);
  level.column = UnsetArray<Index>(nodes, device);
  level.held = UnsetArray<int>(nodes, device);
  pack_leaves(found, pattern, leaves, device);
  count_level(level, device);
  wait_before_memory_goes_back(device);
  return leaves;
}

}  // namespace heddle::cuda
