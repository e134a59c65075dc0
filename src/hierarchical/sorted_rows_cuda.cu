// A block of threads marks the block columns of its block row, whose one bits number the leaves,
// and counts the entries of each.
#include "sorted_rows_cuda.hpp"

#include <algorithm>
#include <limits>
#include <utility>

#include "base/device_value.hpp"
#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "base/sort_cuda.hpp"
#include "block_row_cuda.cuh"
#include "heddle/detail/slice_arithmetic.hpp"

namespace heddle::cuda {

namespace {

constexpr int max_columns = 1 << 17;  // in blocks: their bits are in shared memory
/// Entries that a warp takes one after another.
template <int threads>
constexpr int max_of_part = threads == block_size ? 1 << 15 : 1 << 12;
/// Block rows of at least this many entries on average are faster entry by entry.
constexpr int long_block_row = 1 << 13;
/// Block rows of fewer on average go to small teams first.
constexpr int long_for_small = 1 << 11;
/// Up to this many entries there is room for a leaf each.
constexpr Offset few_entries = Offset(1) << 22;
/// This many block rows fill a GPU with warps.
constexpr Index many_block_rows = 1 << 14;

/// The leaves of block rows, before their total number is known. Room for one in eight entries and
/// a few more suits most matrices: a large piece of memory takes the host long.
struct FoundLeaves {
  Index* column;
  int* held;
  Offset* leaves;  // for each block row; then a value that is not 0 if something does not suit
  bool is_short;   // there is less room than entries

  static constexpr int spare = 8;
  /// The room of a block row that begins with this entry.
  HEDDLE_INLINE Offset place_of_first_leaf(Offset entry, Offset block_row) const {
    return is_short ? entry / 8 + spare * block_row : entry;
  }
};

/// The block columns between which a block row lies, if its rows are sorted. Subtracts from
/// `workspace.falls` how often columns fall from one row to the next. All threads take part.
template <int threads>
__device__ BlockColumns find_range(BlockRowWorkspace<threads>& workspace, const BlockRow& row,
                                   const PatternView& pattern, const NodeShape& shape) {
  const auto thread = static_cast<int>(threadIdx.x);
  if (thread == 0) {
    workspace.least = pattern.columns;
    workspace.greatest = -1;
    workspace.falls = 0;
  }
  __syncthreads();
  for (int r = thread; r < row.rows; r += threads) {
    const int begin = workspace.begin[r], end = workspace.begin[r + 1];
    if (begin == end) continue;
    const Index first = row.column[begin];
    atomicMin(&workspace.least, first);
    atomicMax(&workspace.greatest, row.column[end - 1]);
    if (begin > 0 && first <= row.column[begin - 1]) atomicSub(&workspace.falls, 1);
  }
  __syncthreads();
  const auto inside = [&](Index column) { return min(max(column, 0), pattern.columns - 1); };
  const Index least = shape.block_of(inside(workspace.least));
  return BlockColumns::between(least, max(least, shape.block_of(inside(workspace.greatest))));
}

/// The columns of a thread, and for lane 0 the ones before them.
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

/// Marks the block columns of a block row. False if a column is beyond the matrix or not above the
/// one before it in its row. All threads take part.
template <int threads>
__device__ bool mark_leaves(BlockRowWorkspace<threads>& workspace, const BlockRow& row,
                            const PatternView& pattern, const NodeShape& shape,
                            const BlockColumns& columns, const ShareOfWarp& share,
                            LoadedColumns& loaded) {
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
        // Columns may fall only where a row begins, which `find_range` has counted.
        if (e > 0 && column <= last) ++falls;
        if (column < 0 || column >= pattern.columns || !columns.covers(shape.block_of(column))) {
          is_good = false;
        } else if (e == 0 || shape.block_of(last) != shape.block_of(column)) {
          columns.mark(shape.block_of(column));
        }
      });
  if (falls != 0) atomicAdd(&workspace.falls, falls);
  is_good = __syncthreads_and(is_good ? 1 : 0) != 0;
  return is_good && workspace.falls == 0;
}

template <int threads>
__global__ void __launch_bounds__(threads, blocks_at_once<threads>())
    find_leaves(PatternView pattern, NodeShape shape, int max_words, FoundLeaves to) {
  __shared__ BlockRowWorkspace<threads> workspace;
  const auto thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  Offset& unsuited = to.leaves[gridDim.x + 1];
  const BlockRow row = open(workspace, pattern, shape);
  if (row.entries == 0) {
    if (thread == 0) to.leaves[blockIdx.x] = 0;
    return;
  }
  const ShareOfWarp share{thread - lane, row.entries, threads};
  LoadedColumns loaded;
  loaded.load(row, share, share.begin);
  const BlockColumns columns = find_range(workspace, row, pattern, shape);
  if (columns.words > max_words) {
    if (thread == 0) unsuited = 1;
    return;
  }
  columns.clear();
  __syncthreads();
  const bool is_good = mark_leaves(workspace, row, pattern, shape, columns, share, loaded);
  const int leaves = number_leaves(workspace, columns);
  const Offset first = to.place_of_first_leaf(row.first, blockIdx.x);
  if (!is_good || row.entries > Offset(workspace.parts_of(leaves)) * max_of_part<threads> ||
      leaves > to.place_of_first_leaf(row.first + row.entries, blockIdx.x + Offset(1)) - first) {
    if (thread == 0) unsuited = 1;
    return;
  }
  if (thread == 0) to.leaves[blockIdx.x] = leaves;
  int* const held = to.held + first;
  int* const count = leaves <= workspace.max_counts ? workspace.count : held;
  for (int leaf = thread; leaf < leaves; leaf += threads) count[leaf] = 0;
  __syncthreads();
  share.for_each(
      share.is_loaded_at_once(), [&](int first) { share.load(row.column, loaded.own, first); },
      [&](int base, int k) {
        count_entry(
            base + lane < row.entries ? columns.number_of(shape.block_of(loaded.own.value[k])) : -1,
            count);
      });
  __syncthreads();
  for (int word = thread; word < columns.words; word += threads) {
    unsigned leaf = columns.before()[word];
    for (unsigned left = columns.bits()[word]; left != 0; left &= left - 1) {
      to.column[first + leaf++] =
          columns.first + word * PlaceBits::bits_of_word + __ffs(static_cast<int>(left)) - 1;
    }
  }
  if (count == held) return;
  for (int leaf = thread; leaf < leaves; leaf += threads) held[leaf] = count[leaf];
}

/// Packs the leaves of all block rows one after another.
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
                    const Offset first =
                        from.place_of_first_leaf(pattern.offsets[block_row << shift], block_row);
                    const Offset to = before[block_row];
                    for (Offset k = thread % 32; k < before[block_row + 1] - to; k += 32) {
                      row[to + k] = static_cast<Index>(block_row);
                      column[to + k] = from.column[first + k];
                      held[to + k] = from.held[first + k];
                    }
                  });
}

/// The number of leaves; none if block rows do not suit a team.
template <int threads>
std::optional<Offset> find(const PatternView& pattern, const FoundLeaves& found,
                           LeavesOfRows& leaves, const Device& owner, const Device& device) {
  const LevelOnGpu& level = leaves.level;
  struct Result {
    Offset leaves;
    Offset unsuited;
  };
  auto* const result = reinterpret_cast<Result*>(found.leaves + level.rows);
  heddle::detail::fill_bytes(result, 0, sizeof *result, device.stream());
  launch_by_block_rows<threads>(
      find_leaves<threads>, pattern.columns, level, device.stream(), pattern, level.shape,
      static_cast<int>(words_of_team<threads>(level.shape, pattern.columns)), found);
  exclusive_sum(found.leaves, level.rows + Offset(1), device);
  leaves.available = owner.available_memory();  // while the kernels run
  const Result read = read_value(result, device);
  return read.unsuited == 0 ? std::optional(read.leaves) : std::nullopt;
}

/// Fills in the leaves of block rows. False if these do not suit the team.
bool take_leaves(const PatternView& pattern, Offset entries, LeavesOfRows& leaves,
                 const Device& owner, const Device& device) {
  LevelOnGpu& level = leaves.level;
  const bool is_short = leaves.team != Team::large && entries > few_entries;
  FoundLeaves found{nullptr, nullptr, leaves.before.data(), is_short};
  const auto most = static_cast<std::size_t>(found.place_of_first_leaf(entries, level.rows));
  UnsetArray<int> storage(2 * most, device);
  found.column = storage.data();
  found.held = storage.data() + most;
  std::optional<Offset> count;
  with_threads(leaves.team, [&]<int threads>(std::integral_constant<int, threads>) {
    count = find<threads>(pattern, found, leaves, owner, device);
  });
  if (!count) return false;
  // The room is given back. A caller's own memory has no bound.
  leaves.available += std::min(static_cast<long long>(storage.size() * sizeof(int)),
                               std::numeric_limits<long long>::max() - leaves.available);
  level.count = *count;
  const auto nodes = static_cast<std::size_t>(level.count);
  level.row = UnsetArray<Index>(nodes, device);
  level.column = UnsetArray<Index>(nodes, device);
  level.held = UnsetArray<int>(nodes, device);
  pack_leaves(found, pattern, leaves, device);
  count_level(level, device);
  wait_before_memory_goes_back(device);
  return true;
}

}  // namespace

std::optional<LeavesOfRows> leaves_of_sorted_rows(const PatternView& pattern, Offset entries,
                                                  const NodeShape& shape, const Device& owner,
                                                  const Device& work) {
  LeavesOfRows leaves;
  LevelOnGpu& level = leaves.level;
  level.shape = shape;
  level.rows = static_cast<Index>(shape.blocks_of(pattern.rows));
  level.columns = static_cast<Index>(shape.blocks_of(pattern.columns));
  if (entries == 0 || level.columns > max_columns || entries / level.rows >= long_block_row) {
    return {};
  }
  leaves.before = UnsetArray<Offset>(static_cast<std::size_t>(level.rows) + 2, work);
  if (entries / level.rows < long_for_small) {
    leaves.team = level.rows < many_block_rows ? Team::small : Team::warp;
    if (take_leaves(pattern, entries, leaves, owner, work)) return leaves;
    leaves.team = Team::large;
  }
  if (!take_leaves(pattern, entries, leaves, owner, work)) return {};
  return leaves;
}

}  // namespace heddle::cuda
