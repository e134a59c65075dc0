// The entries of a leaf follow one another in the order of the rows, so that the rank of each is
// the number of entries before it: parts of the block row are counted, then each warp walks over
// its part.
#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "heddle/detail/slice_arithmetic.hpp"
#include "hierarchical/block_row_cuda.cuh"
#include "hierarchical/pools/node_padding.cuh"
#include "hierarchical/sorted_rows_cuda.hpp"

namespace heddle::cuda {

namespace {

/// The arguments for writing leaves; words of entries are copied as they are.
template <class Word>
struct LeavesToWrite {
  PatternView pattern;
  NodeShape shape;
  const Offset* before;  // leaves
  const Index* column;
  const int* held;
  const Offset* byte;
  int* taken;  // for each leaf, if shared memory has no room
  const Word* values;
  const int* order;
  int words;
  unsigned char* pool;
};

/// Where the entries of a leaf go.
struct LeafToFill {
  unsigned long long places;  // an address, plus 1 for the bits of a dense leaf
  unsigned long long payloads;

  LeafToFill() = default;
  __device__ LeafToFill(unsigned char* node, const NodeShape& shape, NodeKind kind, int held)
      : places(reinterpret_cast<unsigned long long>(node + NodeShape::places_byte(kind)) |
               (kind == NodeKind::dense ? 1 : 0)),
        payloads(reinterpret_cast<unsigned long long>(node + shape.payload_byte(kind, held))) {}

  /// Writes the place of an entry, and returns the address of its payload.
  __device__ unsigned long long put(const NodeShape& shape, int rank, LocalPlace place) const {
    int index = rank;
    if ((places & 1) != 0) {
      index = shape.position_of(place);
      atomicOr(reinterpret_cast<unsigned*>(places - 1) + index / PlaceBits::bits_of_word,
               PlaceBits::bit_of(index));
    } else {
      reinterpret_cast<unsigned short*>(places)[rank] =
          static_cast<unsigned short>(place.row | place.column << 8);
    }
    return payloads + static_cast<unsigned long long>(index) *
                          static_cast<unsigned long long>(shape.payload_bytes);
  }
};

/// The first leaves of a block row, which every entry needs.
template <int threads>
struct KeptLeaves {
  static constexpr int most = 2 * threads;
  LeafToFill leaf[most];
};

/// Writes the payloads of up to 32 entries of several words that follow one another; all lanes take
/// part.
template <class Word>
__device__ void write_payloads(const LeavesToWrite<Word>& of, Offset first, int count,
                               unsigned long long address) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int begin = 0; begin < count * of.words; begin += 32) {
    const int at = begin + lane, entry = at / of.words, k = at - entry * of.words;
    const unsigned long long to = __shfl_sync(all_lanes, address, entry % 32);
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

__device__ unsigned or_of_warp(unsigned bits) {
#if defined(__CUDA_ARCH__) && __CUDA_ARCH__ >= 800
  return __reduce_or_sync(all_lanes, bits);
#else
  for (int step = 16; step > 0; step /= 2) bits |= __shfl_xor_sync(all_lanes, bits, step);
  return bits;
#endif
}

/// The rows of entries that a warp takes in their order, 32 at once.
struct RowsOfWarp {
  const int* begin;
  int rows;
  int row;  // row of the entry before the next 32, or the first one

  __device__ RowsOfWarp(const int* begin_of_row, int all, int first)
      : begin(begin_of_row),
        rows(all),
        row(first > 0 ? row_of_entry(begin, rows, first - 1, 0) : 0) {}
  /// The row of entry base + lane, which is below `end`; all lanes take part.
  __device__ int next(int base, int end) {
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const int at = row + 1 + lane < rows ? begin[row + 1 + lane] - base : 32;
    const unsigned heads = or_of_warp(at < 32 ? 1U << at : 0);
    if (__popc(heads) == __popc(__ballot_sync(all_lanes, at < 32))) {
      const int own = row + __popc(heads & ((2U << lane) - 1));
      row += __popc(heads);
      return own;
    }
    const int own = row_of_entry(begin, rows, min(base + lane, end - 1), row);  // some are empty
    row = __shfl_sync(all_lanes, own, 31);
    return own;
  }
};

/// The lanes with the same leaf, -1 for none.
__device__ unsigned lanes_of_leaf(int leaf, int leaves) {
  if (leaves > 4) return __match_any_sync(all_lanes, leaf);
  unsigned lanes = __ballot_sync(all_lanes, leaf >= 0);
#pragma unroll
  for (int bit = 1; bit < 4; bit *= 2) {
    const unsigned ones = __ballot_sync(all_lanes, (leaf & bit) != 0);
    lanes &= (leaf & bit) != 0 ? ones : ~ones;
  }
  return lanes;
}

/// A block of threads that writes the leaves of a block row: each warp takes a part of it.
template <class Word, int threads>
struct BlockRowToWrite {
  const LeavesToWrite<Word>& of;
  const KeptLeaves<threads>& kept;
  BlockColumns columns;
  Offset first_leaf;
  int leaves;

  __device__ LeafToFill leaf_to_fill(int leaf) const {
    if (leaf < KeptLeaves<threads>::most) return kept.leaf[leaf];
    const int held = of.held[first_leaf + leaf];
    return {of.pool + of.byte[first_leaf + leaf], of.shape, of.shape.kind_of(held), held};
  }
  /// Writes the counts and padding of all leaves, and zeros in dense ones, whose places are written
  /// later; marks the leaves' block columns. All threads take part.
  __device__ void open_leaves(KeptLeaves<threads>& to) const {
    const auto thread = static_cast<int>(threadIdx.x);
    const int lanes = 8 * leaves <= threads ? 8 : 1;
    bool is_dense = false;
    for (int k = thread; k < leaves * lanes; k += threads) {
      const int leaf = k / lanes;
      const Offset node = first_leaf + leaf;
      const int held = of.held[node];
      const NodeKind kind = of.shape.kind_of(held);
      unsigned char* const bytes = of.pool + of.byte[node];
      put_count_and_padding(bytes, of.shape, kind, held, k % lanes, lanes);
      is_dense = is_dense || kind == NodeKind::dense;
      if (k % lanes != 0) continue;
      columns.mark(of.column[node]);
      if (leaf < KeptLeaves<threads>::most) to.leaf[leaf] = {bytes, of.shape, kind, held};
    }
    if (__syncthreads_or(is_dense ? 1 : 0) == 0) return;
    for (int leaf = 0; leaf < leaves; ++leaf) {
      const int held = of.held[first_leaf + leaf];
      if (of.shape.kind_of(held) != NodeKind::dense) continue;
      clear_places(of.pool + of.byte[first_leaf + leaf], of.shape, held, thread, threads);
    }
  }
  /// Writes the place of an entry, and returns the address of its payload: the warp's entries come
  /// in the order of every leaf, and `taken` counts those before this one. All lanes take part.
  __device__ unsigned long long take(int base, int end, Index column, int* taken,
                                     RowsOfWarp& rows) const {
    const auto lane = static_cast<int>(threadIdx.x % 32);
    const int leaf = base + lane < end ? columns.number_of(of.shape.block_of(column)) : -1;
    const unsigned peers = lanes_of_leaf(leaf, leaves);
    const unsigned earlier = peers & ((1U << lane) - 1);
    const int rank = leaf < 0 ? 0 : taken[leaf] + __popc(earlier);
    __syncwarp();
    if (leaf >= 0 && earlier == 0) taken[leaf] = rank + __popc(peers);
    __syncwarp();
    const int row = rows.next(base, end);
    if (leaf < 0) return 0;
    return leaf_to_fill(leaf).put(of.shape, rank, of.shape.place_of(row, column));
  }
};

template <class Word, int threads>
__global__ void __launch_bounds__(threads, blocks_at_once<threads>())
    write_block_rows(LeavesToWrite<Word> of) {
  __shared__ BlockRowWorkspace<threads> workspace;
  __shared__ KeptLeaves<threads> kept;
  const auto thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const BlockRow row = open(workspace, of.pattern, of.shape);
  if (row.entries == 0) return;
  const Offset first_leaf = of.before[blockIdx.x];
  const auto leaves = static_cast<int>(of.before[blockIdx.x + 1] - first_leaf);
  const int parts = workspace.parts_of(leaves);
  const auto begin_of = [&](int part) {
    return static_cast<int>(Offset(row.entries) * part / parts);
  };
  const ShareOfWarp share{warp < parts ? begin_of(warp) : 0, warp < parts ? begin_of(warp + 1) : 0,
                          32};
  // The loads run while the leaves are numbered.
  const Word* const values = of.values + row.first * of.words;
  const bool is_word = of.words == 1;
  LoadedEntries<Index> column;
  LoadedEntries<Word> value;
  const auto load = [&](int first) {
    share.load(row.column, column, first);
    if (is_word) share.load(values, value, first);
  };
  load(share.begin);
  const auto columns =
      BlockColumns::between(of.column[first_leaf], of.column[first_leaf + leaves - 1]);
  columns.clear();
  int* const taken = leaves <= workspace.max_counts ? workspace.count : of.taken + first_leaf;
  for (int k = thread; k < parts * leaves; k += threads) taken[k] = 0;
  __syncthreads();
  const BlockRowToWrite<Word, threads> write{of, kept, columns, first_leaf, leaves};
  write.open_leaves(kept);
  number_leaves(workspace, columns);
  int* const own = taken + warp * leaves;
  if (parts > 1) {
    share.for_each(
        true, [&](int first) { share.load(row.column, column, first); },
        [&](int base, int k) {
          count_entry(
              base + lane < share.end ? columns.number_of(of.shape.block_of(column.value[k])) : -1,
              own);
        });
    __syncthreads();
    for (int leaf = thread; leaf < leaves; leaf += threads) {
      int sum = 0;
      for (int part = 0; part < parts; ++part) {
        const int here = taken[part * leaves + leaf];
        taken[part * leaves + leaf] = sum;
        sum += here;
      }
    }
    __syncthreads();
  }
  RowsOfWarp rows(workspace.begin, row.rows, share.begin);
  share.for_each(parts == 1 || share.is_loaded_at_once(), load, [&](int base, int k) {
    const unsigned long long to = write.take(base, share.end, column.value[k], own, rows);
    if (!is_word) {
      write_payloads(of, row.first + base, min(32, share.end - base), to);
    } else if (to != 0) {
      *reinterpret_cast<Word*>(to) = value.value[k];
    }
  });
}

template <class Word>
void write_words(const LevelOnGpu& level, const LeavesOfRows& leaves, const PatternView& pattern,
                 const PayloadsOnGpu& payloads, unsigned char* pool, const Device& device) {
  UnsetArray<int> taken(static_cast<std::size_t>(level.nodes()), device);
  const LeavesToWrite<Word> of{pattern,
                               level.shape,
                               leaves.before.data(),
                               level.column.data(),
                               level.held.data(),
                               level.byte.data(),
                               taken.data(),
                               static_cast<const Word*>(payloads.data),
                               payloads.order,
                               level.shape.payload_bytes / int{sizeof(Word)},
                               pool + level.begin};
  with_threads(leaves.team, [&]<int threads>(std::integral_constant<int, threads>) {
    launch_by_block_rows<threads>(write_block_rows<Word, threads>, pattern.columns, level,
                                  device.stream(), of);
  });
  wait_before_memory_goes_back(device);
}

}  // namespace

void write_leaves(const LevelOnGpu& level, const LeavesOfRows& leaves, const PatternView& pattern,
                  const PayloadsOnGpu& payloads, unsigned char* pool, const Device& device) {
  switch (payloads.word_bytes) {
    case sizeof(unsigned long long):
      return write_words<unsigned long long>(level, leaves, pattern, payloads, pool, device);
    default:
      return write_words<unsigned>(level, leaves, pattern, payloads, pool, device);
  }
}

}  // namespace heddle::cuda
