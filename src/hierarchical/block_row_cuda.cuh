// A block row of compressed rows, as a block of threads takes it: bits of its block columns number
// its leaves.
#pragma once

#include "heddle/csr.hpp"
#include "place_bits.cuh"

namespace heddle::cuda {

inline constexpr unsigned all_lanes = ~0U;
inline constexpr int most_counts = 2048;  // of leaves, in shared memory

/// What a block of threads knows of its block row, beside the words of its bits.
struct BlockRowRoom {
  int begin[NodeShape{8, 0}.size() + 1];  // of each row
  int count[most_counts];
  unsigned of_warp[block_size / 32];
  Index least, greatest;  // column
  int falls;              // of columns inside of rows
  int leaves;
};
extern __shared__ unsigned words_of_room[];

/// The entries of a block row.
struct BlockRow {
  const Index* column;
  Offset first;
  int entries;
  int rows;
};

/// The block columns from the first one of a block row to its last, in whole words: a bit for each,
/// and how many are set in earlier words, in the dynamic shared memory of the block of threads.
struct BlockColumns {
  Index first;
  int words;

  static __device__ BlockColumns between(Index first, Index last) {
    const Index word = first / PlaceBits::bits_of_word;
    return {word * PlaceBits::bits_of_word, last / PlaceBits::bits_of_word - word + 1};
  }
  __device__ unsigned* bits() const { return words_of_room; }
  __device__ unsigned* before() const { return words_of_room + words; }
  __device__ bool covers(Index block) const {
    return block >= first && block - first < words * PlaceBits::bits_of_word;
  }
  __device__ int number_of(Index block) const {
    return PlaceBits{bits(), before()}.number_of(block - first);
  }
  __device__ void mark(Index block) const {
    unsigned& word = bits()[(block - first) / PlaceBits::bits_of_word];
    const unsigned bit = PlaceBits::bit_of(block - first);
    if ((word & bit) == 0) atomicOr(&word, bit);
  }
  __device__ void clear() const {
    for (int word = static_cast<int>(threadIdx.x); word < words; word += block_size) {
      bits()[word] = 0;
    }
  }
};

/// Warps that share out a block row: each counts its own entries of every leaf.
__device__ inline int parts_of(int leaves) {
  return leaves > most_counts ? 1 : min(block_size / 32, most_counts / max(leaves, 1));
}

/// All threads take part.
__device__ inline BlockRow open(BlockRowRoom& room, const PatternView& pattern,
                                const NodeShape& shape) {
  const auto thread = static_cast<int>(threadIdx.x);
  const Offset row = Offset(blockIdx.x) << shape.log2_size;
  const int rows = static_cast<int>(min(Offset(shape.size()), pattern.rows - row));
  const Offset first = pattern.offsets[row];
  for (int r = thread; r <= rows; r += block_size) {
    room.begin[r] = static_cast<int>(pattern.offsets[row + r] - first);
  }
  __syncthreads();
  return {pattern.column + first, first, room.begin[rows], rows};
}

/// Numbers the marked block columns, and returns how many there are. All threads take part.
__device__ inline int number_leaves(BlockRowRoom& room, const BlockColumns& columns) {
  __syncthreads();
  const unsigned leaves =
      number_bits(columns.bits(), columns.before(), columns.words, threadIdx.x, room.of_warp);
  if (threadIdx.x == block_size - 1) room.leaves = static_cast<int>(leaves);
  __syncthreads();
  return room.leaves;
}

/// Adds the entries [begin, end) to the counts of their leaves; all lanes of a warp take part, and
/// a warp takes `step` entries on after its 32. One addition for neighbors in one leaf.
__device__ inline void count_entries(const BlockRow& row, const NodeShape& shape,
                                     const BlockColumns& leaves, int begin, int end, int step,
                                     int* count) {
  const unsigned lane = threadIdx.x % 32;
  const int own = begin + static_cast<int>(lane);
  Index next = own < end ? row.column[own] : 0;
  for (int base = begin; base < end; base += step) {
    const int e = base + static_cast<int>(lane);
    const Index column = next;
    next = e + step < end ? row.column[e + step] : 0;
    const int leaf = e < end ? leaves.number_of(shape.block_of(column)) : -1;
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

}  // namespace heddle::cuda
