// A block of threads marks the block columns of its block row, whose ones number the leaves. The
// entries of a leaf follow one another in the order of the rows, so that the rank of each is how
// many come before it: parts of the block row are counted, then each warp walks over its part.
#include "sorted_rows_cuda.hpp"

#include <utility>

#include "base/device_value.hpp"
#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "base/sort_cuda.hpp"
#include "heddle/detail/slice_arithmetic.hpp"
#include "place_bits.cuh"

namespace heddle::cuda {

namespace {

constexpr unsigned all_lanes = ~0U;
constexpr int most_columns = 1 << 17;  // of blocks: their bits are in shared memory
constexpr int most_counts = 2048;      // there too
constexpr int most_of_part = 1 << 15;  // entries that a warp takes one after the other
/// Block rows of so many entries in the mean are faster entry by entry.
constexpr int long_block_row = 1 << 13;

/// What a block of threads knows of its block row.
struct BlockRowRoom {
  unsigned bits[most_columns / PlaceBits::bits_of_word];
  unsigned before[most_columns / PlaceBits::bits_of_word];
  int begin[NodeShape{8, 0}.size() + 1];  // of each row
  int count[most_counts];
  unsigned of_warp[block_size / 32];
};

/// The entries of a block row.
struct BlockRow {
  const Index* column;
  Offset first;
  int entries;
  int rows;
};

/// Warps that share out a block row: each counts its own entries of every leaf.
__device__ int parts_of(int leaves) {
  return leaves > most_counts ? 1 : min(block_size / 32, most_counts / max(leaves, 1));
}

/// Also clears the bits of `words` words. All threads take part.
__device__ BlockRow open(BlockRowRoom& room, const PatternView& pattern, const NodeShape& shape,
                         int words) {
  const auto thread = static_cast<int>(threadIdx.x);
  const Offset row = Offset(blockIdx.x) << shape.log2_size;
  const int rows = static_cast<int>(min(Offset(shape.size()), pattern.rows - row));
  const Offset first = pattern.offsets[row];
  for (int r = thread; r <= rows; r += block_size) {
    room.begin[r] = static_cast<int>(pattern.offsets[row + r] - first);
  }
  for (int word = thread; word < words; word += block_size) room.bits[word] = 0;
  __syncthreads();
  return {pattern.column + first, first, room.begin[rows], rows};
}

/// Numbers the marked block columns, and returns how many there are. All threads take part.
__device__ int number_leaves(BlockRowRoom& room, int words) {
  __syncthreads();
  const auto thread = static_cast<int>(threadIdx.x), lane = thread % 32;
  const int each = (words + block_size - 1) / block_size;
  const int first = min(words, thread * each), end = min(words, first + each);
  unsigned own = 0;
  for (int word = first; word < end; ++word) own += __popc(room.bits[word]);
  unsigned sum = own;
  for (int step = 1; step < 32; step *= 2) {
    const unsigned other = __shfl_up_sync(all_lanes, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) room.of_warp[thread / 32] = sum;
  __syncthreads();
  unsigned before = sum - own, all = 0;
  for (int warp = 0; warp < block_size / 32; ++warp) {
    if (warp == thread / 32) before += all;
    all += room.of_warp[warp];
  }
  for (int word = first; word < end; ++word) {
    room.before[word] = before;
    before += __popc(room.bits[word]);
  }
  __syncthreads();
  return static_cast<int>(all);
}

__device__ void mark(BlockRowRoom& room, Index block) {
  unsigned& word = room.bits[block / PlaceBits::bits_of_word];
  if ((word & PlaceBits::bit_of(block)) == 0) atomicOr(&word, PlaceBits::bit_of(block));
}

/// Adds the entries [begin, end) to the counts of their leaves; all lanes of a warp take part, and
/// a warp takes `step` entries on after its 32. One addition for neighbors in one leaf.
__device__ void count_entries(const BlockRow& row, const NodeShape& shape, const PlaceBits& leaves,
                              int begin, int end, int step, int* count) {
  const unsigned lane = threadIdx.x % 32;
  for (int base = begin; base < end; base += step) {
    const int e = base + static_cast<int>(lane);
    const int leaf = e < end ? leaves.number_of(shape.block_of(row.column[e])) : -1;
    const int other = __shfl_up_sync(all_lanes, leaf, 1);
    const bool is_head = lane == 0 || other != leaf;
    const unsigned heads = __ballot_sync(all_lanes, is_head);
    if (!is_head || leaf < 0) continue;
    const unsigned behind = heads & (~1U << lane);
    const unsigned next =
        behind != 0 ? static_cast<unsigned>(__ffs(static_cast<int>(behind))) - 1 : 32;
    atomicAdd(count + leaf, static_cast<int>(next - lane));
  }
}

/// The leaves of block rows, before anybody knows how many there are in all: those of a block row
/// lie from its first entry on.
struct FoundLeaves {
  Index* column;
  int* held;
  Offset* leaves;  // of each block row; behind them what is not 0 where something does not suit
};

__global__ void __launch_bounds__(block_size)
    find_leaves(PatternView pattern, NodeShape shape, int words, FoundLeaves to) {
  __shared__ BlockRowRoom room;
  const auto thread = static_cast<int>(threadIdx.x);
  const BlockRow row = open(room, pattern, shape, words);
  bool is_bad = false;
  for (int e = thread; e < row.entries; e += block_size) {
    const Index column = row.column[e], last = e > 0 ? row.column[e - 1] : -1;
    if (column < 0 || column >= pattern.columns) {
      is_bad = true;
      continue;
    }
    // Columns fall only where a row begins.
    if (column <= last && room.begin[last_not_above(room.begin, row.rows, e)] != e) {
      is_bad = true;
    }
    if (e == 0 || shape.block_of(last) != shape.block_of(column)) {
      mark(room, shape.block_of(column));
    }
  }
  is_bad = __syncthreads_or(is_bad ? 1 : 0) != 0;
  const int leaves = number_leaves(room, words);
  if (is_bad || row.entries > Offset(parts_of(leaves)) * most_of_part) {
    if (thread == 0) to.leaves[gridDim.x + 1] = 1;
    return;
  }
  if (thread == 0) to.leaves[blockIdx.x] = leaves;
  int* const held = to.held + row.first;
  int* const count = leaves <= most_counts ? room.count : held;
  for (int leaf = thread; leaf < leaves; leaf += block_size) count[leaf] = 0;
  __syncthreads();
  count_entries(row, shape, {room.bits, room.before}, thread / 32 * 32, row.entries, block_size,
                count);
  __syncthreads();
  for (int word = thread; word < words; word += block_size) {
    unsigned leaf = room.before[word];
    for (unsigned left = room.bits[word]; left != 0; left &= left - 1) {
      to.column[row.first + leaf++] =
          word * PlaceBits::bits_of_word + __ffs(static_cast<int>(left)) - 1;
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
  int bit_words;
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

/// Writes the payloads of up to 32 entries that follow one another; all lanes take part.
template <class Word>
__device__ void write_payloads(const LeavesToWrite<Word>& of, Offset first, int count, Slot slot) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  if (of.words == 1) {
    if (lane < count) *reinterpret_cast<Word*>(slot.address) = of.values[first + lane];
    return;
  }
  for (int begin = 0; begin < count * of.words; begin += 32) {
    const int at = begin + lane, entry = at / of.words, k = at - entry * of.words;
    const unsigned long long to = __shfl_sync(all_lanes, slot.address, entry % 32);
    if (entry < count) {
      reinterpret_cast<Word*>(to)[k] =
          of.values[(first + entry) * of.words + (of.order != nullptr ? of.order[k] : k)];
    }
  }
}

/// A warp's part of a block row. `taken` counts the entries of each leaf before this one.
template <class Word>
__device__ void write_part(const LeavesToWrite<Word>& of, const BlockRow& row,
                           const BlockRowRoom& room, Offset first_leaf, int begin, int end,
                           int* taken) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const PlaceBits leaves{room.bits, room.before};
  Index next = begin + lane < end ? row.column[begin + lane] : 0;
  for (int base = begin; base < end; base += 32) {
    const int e = base + lane;
    const Index column = next;
    next = e + 32 < end ? row.column[e + 32] : 0;
    const int leaf = e < end ? leaves.number_of(of.shape.block_of(column)) : -1;
    const unsigned peers = __match_any_sync(all_lanes, leaf);
    const unsigned earlier = peers & ((1U << lane) - 1);
    const int rank = leaf < 0 ? 0 : taken[leaf] + __popc(earlier);
    __syncwarp();
    if (leaf >= 0 && earlier == 0) taken[leaf] = rank + __popc(peers);
    __syncwarp();
    Slot slot;
    if (leaf >= 0) {
      const Index r = last_not_above(room.begin, row.rows, e);
      slot = write_place(of, first_leaf + leaf, rank, of.shape.place_of(r, column));
    }
    write_payloads(of, row.first + base, min(32, end - base), slot);
  }
}

template <class Word>
__global__ void __launch_bounds__(block_size) write_block_rows(LeavesToWrite<Word> of) {
  __shared__ BlockRowRoom room;
  const auto thread = static_cast<int>(threadIdx.x), warp = thread / 32;
  const BlockRow row = open(room, of.pattern, of.shape, of.bit_words);
  if (row.entries == 0) return;
  const Offset first_leaf = of.before[blockIdx.x];
  const auto leaves = static_cast<int>(of.before[blockIdx.x + 1] - first_leaf);
  for (int leaf = thread; leaf < leaves; leaf += block_size) {
    const Offset node = first_leaf + leaf;
    mark(room, of.column[node]);
    *reinterpret_cast<unsigned*>(of.pool + of.byte[node]) = static_cast<unsigned>(of.held[node]);
  }
  number_leaves(room, of.bit_words);
  const int parts = parts_of(leaves);
  int* const taken = leaves <= most_counts ? room.count : of.taken + first_leaf;
  for (int k = thread; k < parts * leaves; k += block_size) taken[k] = 0;
  __syncthreads();
  const auto begin_of = [&](int part) {
    return static_cast<int>(Offset(row.entries) * part / parts);
  };
  if (parts > 1 && warp < parts) {
    count_entries(row, of.shape, {room.bits, room.before}, begin_of(warp), begin_of(warp + 1), 32,
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
    write_part(of, row, room, first_leaf, begin_of(warp), begin_of(warp + 1),
               taken + warp * leaves);
  }
}

int words_of_blocks(Index columns, const NodeShape& shape) {
  return static_cast<int>((shape.blocks_of(columns) + PlaceBits::bits_of_word - 1) /
                          PlaceBits::bits_of_word);
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
                               words_of_blocks(pattern.columns, leaves.shape),
                               before.data(),
                               leaves.column.data(),
                               leaves.held.data(),
                               leaves.byte.data(),
                               taken.data(),
                               static_cast<const Word*>(payloads.data),
                               payloads.order,
                               leaves.shape.payload_bytes / int{sizeof(Word)},
                               pool + leaves.begin};
  const OnGpu here(device.stream());
  launch_kernel(write_block_rows<Word>, static_cast<unsigned>(leaves.rows), block_size, false,
                device.stream(), of);
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
  const OnGpu here(device.stream());
  launch_kernel(find_leaves, static_cast<unsigned>(level.rows), block_size, false, device.stream(),
                pattern, shape, words_of_blocks(pattern.columns, shape), found);
  exclusive_sum(leaves.before.data(), level.rows + Offset(1), device);
  struct Result {
    Offset count;
    Offset unsuited;
  };
  const auto result =
      read_value(reinterpret_cast<const Result*>(leaves.before.data() + block_rows), device);
  if (result.unsuited != 0) return {};
  const auto nodes = static_cast<std::size_t>(result.count);
  level.row = UnsetArray<Index>(nodes, device);
  level.column = UnsetArray<Index>(nodes, device);
  level.held = Array<int>(nodes, device);
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
