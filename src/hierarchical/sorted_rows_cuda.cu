// A block of threads marks the block columns of its block row, whose ones number the leaves. The
// entries of a leaf follow one another in the order of the rows, so that the rank of each is how
// many come before it: parts of the block row are counted, then each warp walks over its part.
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

/// Marks the block columns of a block row. False where a column is beyond the matrix or not above
/// the one before it in its row. All threads take part.
__device__ bool mark_leaves(BlockRowRoom& room, const BlockRow& row, const PatternView& pattern,
                            const NodeShape& shape, const BlockColumns& columns) {
  const auto thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  bool is_good = true;
  int falls = 0;
  Index next = thread < row.entries ? row.column[thread] : 0;
  for (int base = thread - lane; base < row.entries; base += block_size) {
    const int e = base + lane;
    const Index column = next;
    next = e + block_size < row.entries ? row.column[e + block_size] : 0;
    Index last = __shfl_up_sync(all_lanes, column, 1);
    if (lane == 0) last = e > 0 ? row.column[e - 1] : -1;
    if (e >= row.entries) continue;
    // Columns fall only where a row begins, which `find_range` has counted.
    if (e > 0 && column <= last) ++falls;
    if (column < 0 || column >= pattern.columns || !columns.covers(shape.block_of(column))) {
      is_good = false;
    } else if (e == 0 || shape.block_of(last) != shape.block_of(column)) {
      columns.mark(shape.block_of(column));
    }
  }
  if (falls != 0) atomicAdd(&room.falls, falls);
  is_good = __syncthreads_and(is_good ? 1 : 0) != 0;
  return is_good && room.falls == 0;
}

__global__ void __launch_bounds__(block_size)
    find_leaves(PatternView pattern, NodeShape shape, FoundLeaves to) {
  __shared__ BlockRowRoom room;
  const auto thread = static_cast<int>(threadIdx.x);
  const BlockRow row = open(room, pattern, shape);
  if (row.entries == 0) {
    if (thread == 0) to.leaves[blockIdx.x] = 0;
    return;
  }
  const BlockColumns columns = find_range(room, row, pattern, shape);
  columns.clear();
  __syncthreads();
  const bool is_good = mark_leaves(room, row, pattern, shape, columns);
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
  count_entries(row, shape, columns, thread / 32 * 32, row.entries, block_size, count);
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

/// What writes leaves; words of entries are copied as they are.
template <class Word>
struct LeavesToWrite {
  PatternView pattern;
  NodeShape shape;
  const Offset* before;  // leaves
  const Index* column;
  const int* held;
  const Offset* byte;
  int* taken;  // of each leaf, where shared memory has no room
  const Word* values;
  const int* order;
  int words;
  unsigned char* pool;
};

/// Where an entry goes.
struct Slot {
  unsigned long long address = 0;  // of its payload
};

/// Writes the place of an entry of a leaf.
template <class Word>
__device__ Slot write_place(const LeavesToWrite<Word>& of, Offset leaf, int rank,
                            LocalPlace place) {
  const int held = of.held[leaf];
  const NodeKind kind = of.shape.kind_of(held);
  unsigned char* const node = of.pool + of.byte[leaf];
  unsigned char* const places = node + NodeShape::places_byte(kind);
  int index = rank;
  if (kind == NodeKind::dense) {
    index = of.shape.position_of(place);
    atomicOr(reinterpret_cast<unsigned*>(places) + index / PlaceBits::bits_of_word,
             PlaceBits::bit_of(index));
  } else {
    reinterpret_cast<LocalPlace*>(places)[rank] = place;
  }
  return {reinterpret_cast<unsigned long long>(node + of.shape.payload_byte(kind, held)) +
          static_cast<unsigned long long>(index) * of.shape.payload_bytes};
}

/// Writes the payloads of up to 32 entries of several words that follow one another; all lanes take
/// part.
template <class Word>
__device__ void write_payloads(const LeavesToWrite<Word>& of, Offset first, int count, Slot slot) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int begin = 0; begin < count * of.words; begin += 32) {
    const int at = begin + lane, entry = at / of.words, k = at - entry * of.words;
    const unsigned long long to = __shfl_sync(all_lanes, slot.address, entry % 32);
    if (entry < count) {
      reinterpret_cast<Word*>(to)[k] =
          of.values[(first + entry) * of.words + (of.order != nullptr ? of.order[k] : k)];
    }
  }
}

/// The row of entry e, which is not above row r: mostly one of the next few.
__device__ int row_of_entry(const int* begin, int rows, int e, int r) {
  int step = 1;
  while (r + step < rows && begin[r + step] <= e) step *= 2;
  const int from = r + step / 2;
  return from + static_cast<int>(last_not_above(begin + from, min(rows - from, step), e));
}

/// A warp's part of a block row. `taken` counts the entries of each leaf before this one.
template <class Word>
__device__ void write_part(const LeavesToWrite<Word>& of, const BlockRow& row,
                           const BlockRowRoom& room, const BlockColumns& leaves, Offset first_leaf,
                           int begin, int end, int* taken) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const Word* const values = of.values + row.first;
  const bool is_word = of.words == 1;
  int r = 0;
  Index next = begin + lane < end ? row.column[begin + lane] : 0;
  Word next_value = is_word && begin + lane < end ? values[begin + lane] : Word(0);
  for (int base = begin; base < end; base += 32) {
    const int e = base + lane;
    const Index column = next;
    const Word value = next_value;
    next = e + 32 < end ? row.column[e + 32] : 0;
    if (is_word && e + 32 < end) next_value = values[e + 32];
    const int leaf = e < end ? leaves.number_of(of.shape.block_of(column)) : -1;
    const unsigned peers = __match_any_sync(all_lanes, leaf);
    const unsigned earlier = peers & ((1U << lane) - 1);
    const int rank = leaf < 0 ? 0 : taken[leaf] + __popc(earlier);
    __syncwarp();
    if (leaf >= 0 && earlier == 0) taken[leaf] = rank + __popc(peers);
    __syncwarp();
    Slot slot;
    if (leaf >= 0) {
      r = row_of_entry(room.begin, row.rows, e, r);
      slot = write_place(of, first_leaf + leaf, rank, of.shape.place_of(r, column));
    }
    if (!is_word) {
      write_payloads(of, row.first + base, min(32, end - base), slot);
    } else if (leaf >= 0) {
      *reinterpret_cast<Word*>(slot.address) = value;
    }
  }
}

template <class Word>
__global__ void __launch_bounds__(block_size) write_block_rows(LeavesToWrite<Word> of) {
  __shared__ BlockRowRoom room;
  const auto thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  const BlockRow row = open(room, of.pattern, of.shape);
  if (row.entries == 0) return;
  const Offset first_leaf = of.before[blockIdx.x];
  const auto leaves = static_cast<int>(of.before[blockIdx.x + 1] - first_leaf);
  const auto columns =
      BlockColumns::between(of.column[first_leaf], of.column[first_leaf + leaves - 1]);
  columns.clear();
  __syncthreads();
  for (int leaf = thread; leaf < leaves; leaf += block_size) {
    const Offset node = first_leaf + leaf;
    columns.mark(of.column[node]);
    *reinterpret_cast<unsigned*>(of.pool + of.byte[node]) = static_cast<unsigned>(of.held[node]);
  }
  number_leaves(room, columns);
  const int parts = parts_of(leaves);
  int* const taken = leaves <= most_counts ? room.count : of.taken + first_leaf;
  for (int k = thread; k < parts * leaves; k += block_size) taken[k] = 0;
  __syncthreads();
  const auto begin_of = [&](int part) {
    return static_cast<int>(Offset(row.entries) * part / parts);
  };
  if (parts > 1 && warp < parts) {
    count_entries(row, of.shape, columns, begin_of(warp), begin_of(warp + 1), 32,
                  taken + warp * leaves);
  }
  __syncthreads();
  for (int leaf = thread; parts > 1 && leaf < leaves; leaf += block_size) {
    int sum = 0;
    for (int part = 0; part < parts; ++part) {
      const int own = taken[part * leaves + leaf];
      taken[part * leaves + leaf] = sum;
      sum += own;
    }
  }
  __syncthreads();
  if (warp < parts) {
    write_part(of, row, room, columns, first_leaf, begin_of(warp), begin_of(warp + 1),
               taken + warp * leaves);
  }
}

/// Queues a kernel with a block of threads for each block row, with room for `BlockColumns`.
template <class... Parameters, class... Arguments>
void launch_by_block_rows(void (*kernel)(Parameters...), Index columns, const LevelOnGpu& leaves,
                          const Stream& stream, const Arguments&... arguments) {
  const Offset words =
      (leaves.shape.blocks_of(columns) + PlaceBits::bits_of_word - 1) / PlaceBits::bits_of_word;
  const OnGpu here(stream);
  kernel<<<static_cast<unsigned>(leaves.rows), block_size,
           2 * static_cast<std::size_t>(words) * sizeof(unsigned), stream.queue>>>(arguments...);
  check(cudaGetLastError(), "the launch of a kernel");
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

template <class Word>
void write_words(const LevelOnGpu& leaves, const UnsetArray<Offset>& before,
                 const PatternView& pattern, const PayloadsOnGpu& payloads, unsigned char* pool,
                 const Device& device) {
  UnsetArray<int> taken(static_cast<std::size_t>(leaves.nodes()), device);
  const LeavesToWrite<Word> of{pattern,
                               leaves.shape,
                               before.data(),
                               leaves.column.data(),
                               leaves.held.data(),
                               leaves.byte.data(),
                               taken.data(),
                               static_cast<const Word*>(payloads.data),
                               payloads.order,
                               leaves.shape.payload_bytes / int{sizeof(Word)},
                               pool + leaves.begin};
  launch_by_block_rows(write_block_rows<Word>, pattern.columns, leaves, device.stream(), of);
  wait_before_memory_goes_back(device);
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

void write_leaves(const LevelOnGpu& leaves, const UnsetArray<Offset>& before,
                  const PatternView& pattern, const PayloadsOnGpu& payloads, unsigned char* pool,
                  const Device& device) {
  switch (payloads.word_bytes) {
    case sizeof(unsigned long long):
      return write_words<unsigned long long>(leaves, before, pattern, payloads, pool, device);
    default:
      return write_words<unsigned>(leaves, before, pattern, payloads, pool, device);
  }
}

}  // namespace heddle::cuda
