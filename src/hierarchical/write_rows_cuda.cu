// The entries of a leaf follow one another in the order of the rows, so that the rank of each is
// how many come before it: parts of the block row are counted, then each warp walks over its part.
#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "block_row_cuda.cuh"
#include "heddle/detail/slice_arithmetic.hpp"
#include "sorted_rows_cuda.hpp"

namespace heddle::cuda {

namespace {

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

/// The leaves of a block row, where they are few: what every entry asks for.
struct KeptLeaves {
  static constexpr int most = 512;
  Offset byte[most];
  int held[most];
};

/// Where an entry goes.
struct Slot {
  unsigned long long address = 0;  // of its payload
};

/// Writes the place of an entry of a leaf that holds so many.
template <class Word>
__device__ Slot write_place(const LeavesToWrite<Word>& of, unsigned char* node, int held, int rank,
                            LocalPlace place) {
  const NodeKind kind = of.shape.kind_of(held);
  unsigned char* const places = node + NodeShape::places_byte(kind);
  int index = rank;
  if (kind == NodeKind::dense) {
    index = of.shape.position_of(place);
    atomicOr(reinterpret_cast<unsigned*>(places) + index / PlaceBits::bits_of_word,
             PlaceBits::bit_of(index));
  } else {
    reinterpret_cast<unsigned short*>(places)[rank] =
        static_cast<unsigned short>(place.row | place.column << 8);
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

/// A block of threads that writes the leaves of a block row: each warp takes a part of it.
template <class Word>
struct BlockRowToWrite {
  const LeavesToWrite<Word>& of;
  const BlockRow& row;
  const BlockRowRoom& room;
  const KeptLeaves& kept;
  BlockColumns columns;
  Offset first_leaf;
  int leaves;

  /// Where an entry goes: the warp's entries come in the order of every leaf, and `taken` counts
  /// those before this one. All lanes take part. `r` is not above the entry's row.
  __device__ Slot take(int e, int end, Index column, int* taken, int& r) const {
    const int lane = static_cast<int>(threadIdx.x % 32);
    const int leaf = e < end ? columns.number_of(of.shape.block_of(column)) : -1;
    const unsigned peers = __match_any_sync(all_lanes, leaf);
    const unsigned earlier = peers & ((1U << lane) - 1);
    const int rank = leaf < 0 ? 0 : taken[leaf] + __popc(earlier);
    __syncwarp();
    if (leaf >= 0 && earlier == 0) taken[leaf] = rank + __popc(peers);
    __syncwarp();
    if (leaf < 0) return {};
    r = row_of_entry(room.begin, row.rows, e, r);
    const bool is_kept = leaves <= KeptLeaves::most;
    const Offset byte = is_kept ? kept.byte[leaf] : of.byte[first_leaf + leaf];
    const int held = is_kept ? kept.held[leaf] : of.held[first_leaf + leaf];
    return write_place(of, of.pool + byte, held, rank, of.shape.place_of(r, column));
  }
};

template <class Word>
__global__ void __launch_bounds__(block_size, 5) write_block_rows(LeavesToWrite<Word> of) {
  __shared__ BlockRowRoom room;
  __shared__ KeptLeaves kept;
  const auto thread = static_cast<int>(threadIdx.x), warp = thread / 32, lane = thread % 32;
  const BlockRow row = open(room, of.pattern, of.shape);
  if (row.entries == 0) return;
  const Offset first_leaf = of.before[blockIdx.x];
  const auto leaves = static_cast<int>(of.before[blockIdx.x + 1] - first_leaf);
  const int parts = parts_of(leaves);
  const auto begin_of = [&](int part) {
    return static_cast<int>(Offset(row.entries) * part / parts);
  };
  const ShareOfWarp share{warp < parts ? begin_of(warp) : 0, warp < parts ? begin_of(warp + 1) : 0,
                          32};
  // They come while the leaves are numbered.
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
  int* const taken = leaves <= most_counts ? room.count : of.taken + first_leaf;
  for (int k = thread; k < parts * leaves; k += block_size) taken[k] = 0;
  __syncthreads();
  for (int leaf = thread; leaf < leaves; leaf += block_size) {
    const Offset node = first_leaf + leaf, byte = of.byte[node];
    const int held = of.held[node];
    columns.mark(of.column[node]);
    *reinterpret_cast<unsigned*>(of.pool + byte) = static_cast<unsigned>(held);
    if (leaf >= KeptLeaves::most) continue;
    kept.byte[leaf] = byte;
    kept.held[leaf] = held;
  }
  number_leaves(room, columns);
  const BlockRowToWrite<Word> write{of, row, room, kept, columns, first_leaf, leaves};
  int* const own = taken + warp * leaves;
  if (parts > 1 && warp < parts) {
    share.for_each(
        true, [&](int first) { share.load(row.column, column, first); },
        [&](int base, int k) {
          count_entry(
              base + lane < share.end ? columns.number_of(of.shape.block_of(column.value[k])) : -1,
              own);
        });
  }
  __syncthreads();
  for (int leaf = thread; parts > 1 && leaf < leaves; leaf += block_size) {
    int sum = 0;
    for (int part = 0; part < parts; ++part) {
      const int here = taken[part * leaves + leaf];
      taken[part * leaves + leaf] = sum;
      sum += here;
    }
  }
  __syncthreads();
  int r = 0;
  share.for_each(share.is_loaded_at_once(), load, [&](int base, int k) {
    const Slot slot = write.take(base + lane, share.end, column.value[k], own, r);
    if (!is_word) {
      write_payloads(of, row.first + base, min(32, share.end - base), slot);
    } else if (base + lane < share.end) {
      *reinterpret_cast<Word*>(slot.address) = value.value[k];
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
