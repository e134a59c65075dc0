// A block row of compressed rows, as a block of threads takes it: bits of its block columns number
// its leaves. Small blocks of threads take short block rows, so that many run at once.
#pragma once

#include <algorithm>
#include <type_traits>

#include "base/launch_cuda.cuh"
#include "heddle/csr.hpp"
#include "hierarchical/pools/place_bits.cuh"
#include "sorted_rows_cuda.hpp"
#include "tree_levels_cuda.hpp"

namespace heddle::cuda {

inline constexpr unsigned all_lanes = ~0U;
/// Blocks of this many threads on a multiprocessor: at least 48 registers per thread.
template <int threads>
constexpr int blocks_at_once() {
  return threads == 32 ? 32 : 1280 / threads;
}

/// A block of threads' data on its block row, in addition to the words of its bits.
template <int threads>
struct BlockRowWorkspace {
  static constexpr int max_counts = 8 * threads;

  int begin[NodeShape{8, 0}.size() + 1];  // first entry of each row
  int count[max_counts];                  // entries per leaf
  unsigned of_warp[threads / 32];
  Index least, greatest;  // column
  int falls;              // descents of columns within rows
  int leaves;

  /// Number of warps that share the block row: each counts its own entries of every leaf.
  static __device__ int parts_of(int leaves) {
    return leaves > max_counts ? 1 : min(threads / 32, max_counts / max(leaves, 1));
  }
};
extern __shared__ unsigned words_of_workspace[];

/// Words of block column bits for which blocks of `threads` threads have room.
template <int threads>
Offset words_of_team(const NodeShape& shape, Index columns) {
  const Offset words =
      (shape.blocks_of(columns) + PlaceBits::bits_of_word - 1) / PlaceBits::bits_of_word;
  return threads == block_size ? words : std::min<Offset>(words, 8 * threads);
}

/// The entries of a block row.
struct BlockRow {
  const Index* column;
  Offset first;
  int entries;
  int rows;
};

/// The block columns from the first one of a block row to its last, in whole words: a bit for each,
/// and the number of bits set in earlier words, in the dynamic shared memory of the block of
/// threads.
struct BlockColumns {
  Index first;
  int words;

  static __device__ BlockColumns between(Index first, Index last) {
    const Index word = first / PlaceBits::bits_of_word;
    return {word * PlaceBits::bits_of_word, last / PlaceBits::bits_of_word - word + 1};
  }
  __device__ unsigned* bits() const { return words_of_workspace; }
  __device__ unsigned* before() const { return words_of_workspace + words; }
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
    for (auto word = static_cast<int>(threadIdx.x); word < words;
         word += static_cast<int>(blockDim.x)) {
      bits()[word] = 0;
    }
  }
};

/// All threads take part.
template <int threads>
__device__ BlockRow open(BlockRowWorkspace<threads>& workspace, const PatternView& pattern,
                         const NodeShape& shape) {
  const auto thread = static_cast<int>(threadIdx.x);
  const Offset row = Offset(blockIdx.x) << shape.log2_size;
  const int rows = static_cast<int>(min(Offset(shape.size()), pattern.rows - row));
  const Offset first = pattern.offsets[row];
  for (int r = thread; r <= rows; r += threads) {
    workspace.begin[r] = static_cast<int>(pattern.offsets[row + r] - first);
  }
  __syncthreads();
  return {pattern.column + first, first, workspace.begin[rows], rows};
}

/// Numbers the marked block columns, and returns how many there are. All threads take part.
template <int threads>
__device__ int number_leaves(BlockRowWorkspace<threads>& workspace, const BlockColumns& columns) {
  __syncthreads();
  const unsigned leaves = number_bits<threads>(columns.bits(), columns.before(), columns.words,
                                               threadIdx.x, workspace.of_warp);
  if (threadIdx.x == threads - 1) workspace.leaves = static_cast<int>(leaves);
  __syncthreads();
  return workspace.leaves;
}

/// The entries of a block row that a thread takes: the first few are loaded at once, before they
/// are needed, and later ones in batches of the same size.
template <class T>
struct LoadedEntries {
  static constexpr int at_once = 6;
  T value[at_once];

  __device__ void load(const T* from, int first, int end, int step) {
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const int e = first + k * step;
      value[k] = e < end ? from[e] : T(0);
    }
  }
};

/// A warp's share of a block row: 32 entries, and 32 more every `step` entries.
struct ShareOfWarp {
  int begin, end, step;

  template <class T>
  __device__ void load(const T* from, LoadedEntries<T>& entries, int first) const {
    entries.load(from, first + static_cast<int>(threadIdx.x % 32), end, step);
  }
  /// Calls `load(first)` for entries that have not been loaded, and `body(base, k)` for those that
  /// have, the k-th of them; all lanes take part.
  template <class Load, class Body>
  __device__ void for_each(bool are_first_loaded, const Load& load, const Body& body) const {
    constexpr int at_once = LoadedEntries<Index>::at_once;
    for (int first = begin; first < end; first += at_once * step) {
      if (first != begin || !are_first_loaded) load(first);
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        if (first + k * step < end) body(first + k * step, k);
      }
    }
  }
  /// True if the first entries are all of them.
  __device__ bool is_loaded_at_once() const {
    return end - begin <= LoadedEntries<Index>::at_once * step;
  }
};

/// Adds one for each lane to the count of its leaf, -1 for none; all lanes of a warp take part.
/// Neighbors in one leaf take one addition.
__device__ inline void count_entry(int leaf, int* count) {
  const unsigned lane = threadIdx.x % 32;
  const int other = __shfl_up_sync(all_lanes, leaf, 1);
  const bool is_head = lane == 0 || other != leaf;
  const unsigned heads = __ballot_sync(all_lanes, is_head);
  if (!is_head || leaf < 0) return;
  const unsigned later_heads = heads & (~1U << lane);
  const unsigned next =
      later_heads != 0 ? static_cast<unsigned>(__ffs(static_cast<int>(later_heads))) - 1 : 32;
  atomicAdd(count + leaf, static_cast<int>(next - lane));
}

/// Calls `body` with the number of threads of a team as a constant.
template <class Body>
void with_threads(Team team, const Body& body) {
  switch (team) {
    case Team::warp:
      return body(std::integral_constant<int, static_cast<int>(Team::warp)>{});
    case Team::small:
      return body(std::integral_constant<int, static_cast<int>(Team::small)>{});
    default:
      return body(std::integral_constant<int, static_cast<int>(Team::large)>{});
  }
}

/// Queues a kernel with a block of threads for each block row, with room for `BlockColumns`.
template <int threads, class... Parameters, class... Arguments>
void launch_by_block_rows(void (*kernel)(Parameters...), Index columns, const LevelOnGpu& leaves,
                          const Stream& stream, const Arguments&... arguments) {
  const Offset words = words_of_team<threads>(leaves.shape, columns);
  const OnGpu here(stream);
  kernel<<<static_cast<unsigned>(leaves.rows), threads,
           2 * static_cast<std::size_t>(words) * sizeof(unsigned), stream.queue>>>(arguments...);
  check(cudaGetLastError(), "the launch of a kernel");
}

}  // namespace heddle::cuda
