// Finds which leaves of two trees meet, and what the leaves of their sum hold: one kernel, whose
// blocks of threads run side by side and wait for one another between its steps.
#include <algorithm>
#include <limits>

#include "base/device_value.hpp"
#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "heddle/detail/slice_arithmetic.hpp"
#include "heddle/error.hpp"
#include "hierarchical/placed_levels_cuda.cuh"
#include "hierarchical/tree_schedule_cuda.hpp"
#include "marked_pairs_cuda.cuh"

namespace heddle::cuda {

namespace {

/// Leaves of a tree by block rows, and by block columns in each.
struct LeavesByRows {
  const heddle::device::TreeLeaf* leaf;
  const Offset* first;  // leaf of each block row
  Index block_rows;
  Offset count;

  __device__ Index row_of(Offset i) const { return last_not_above(first, block_rows, i); }
  /// The first leaf of a block row that is not before a block column.
  __device__ Offset first_not_before(Index row, Index column) const {
    Offset begin = first[row], end = first[row + 1];
    while (begin < end) {
      const Offset middle = (begin + end) / 2;
      if (leaf[middle].block < column) {
        begin = middle + 1;
      } else {
        end = middle;
      }
    }
    return begin;
  }
  __device__ bool is_at(Offset i, Index row, Index column) const {
    return i < first[row + 1] && leaf[i].block == column;
  }
};

/// The sum, and arrays for its leaves.
struct SumToPlace {
  PairsOfLeaves pairs;
  ListedPairs listed;
  Index* row;
  Index* column;
  int* held;
  Offset* byte;
  CountedSum* counted;
  LevelsAbove above;
};

struct SumToCount : SumToPlace {
  LeavesByRows a, b;
  // For each leaf of B: leaves of A before it, as -1 - i if none of them meets it; and leaves of B
  // that meet none, before it and in all.
  Offset* before_in_a;
  Offset* lone;
};

/// The leaves that a walk has found.
struct WalkedSum : SumToPlace {
  const Index* order;
  const unsigned long long* place;
  const int* counts;
  Offset leaves;
  int column_bits;
};

/// Records a leaf of the sum: counts its entries if a thread can and none has, or lists it.
template <bool counts>
__device__ void take_pair(const SumToPlace& of, Offset leaf, Offset i, Offset j, Index row,
                          Index column) {
  of.pairs.of_a[leaf] = static_cast<Index>(i);
  of.pairs.of_b[leaf] = static_cast<Index>(j);
  of.row[leaf] = row;
  of.column[leaf] = column;
  const NodeView a = view_of(of.pairs, of.pairs.a, static_cast<Index>(i));
  const NodeView b = view_of(of.pairs, of.pairs.b, static_cast<Index>(j));
  if (fits_in_thread(a, b)) {
    if constexpr (counts) {
      const ThreadPair pair(a, b, of.pairs.transposes_b);
      of.held[leaf] = pair.all - __popc(pair.repeats);
    }
    if (of.counted->has_single == 0) of.counted->has_single = 1;
    return;
  }
  if (fits_in_warp(a, b)) {
    of.listed.small[take_number(&of.counted->small, 0)] = static_cast<Index>(leaf);
    return;
  }
  if (suits_warp(a, b, of.pairs.shape)) {
    of.listed.medium[take_number(&of.counted->medium, 0)] = static_cast<Index>(leaf);
  } else {
    of.listed.large[take_number(&of.counted->large, 0)] = static_cast<Index>(leaf);
  }
}

/// Looks for the leaves of B among those of A, and records those that meet none.
__device__ Offset take_lone_leaves(const SumToCount& of) {
  const Share own = share_of_block(of.b.count);
  Offset lone = 0;
  for (Offset j = own.begin + threadIdx.x; j < own.end; j += block_size) {
    const Index row = of.b.row_of(j), column = of.b.leaf[j].block;
    const Offset before = of.a.first_not_before(row, column);
    const bool meets = of.a.is_at(before, row, column);
    of.before_in_a[j] = meets ? before : -1 - before;
    lone += meets ? 0 : 1;
  }
  lone = sums_of_block(lone).all;
  Offset* const of_block = of.above.of_block;
  if (threadIdx.x == 0) of_block[blockIdx.x] = lone;
  wait_for_all();
  auto [before, all] = sums_of_all_blocks(of_block);
  for (Offset base = own.begin; base < own.end; base += block_size) {
    const Offset j = base + threadIdx.x;
    const Offset in_a = j < own.end ? of.before_in_a[j] : 0;
    const Sums sums = sums_of_block(in_a < 0 ? 1 : 0);
    if (j < own.end) of.lone[j] = before + sums.before;
    if (in_a < 0) {
      take_pair<true>(of, -1 - in_a + before + sums.before, -1, j, of.b.row_of(j),
                      of.b.leaf[j].block);
    }
    before += sums.all;
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) of.lone[of.b.count] = all;
  wait_for_all();
  return all;
}

__device__ void count_small(const SumToCount& of, Index leaf, int lane) {
  const NodeView a = leaf_of_a(of.pairs, leaf), b = leaf_of_b(of.pairs, leaf);
  const LanePair pair(a, b, of.pairs.transposes_b, lane);
  if (lane == 0) of.held[leaf] = count_of(a) + count_of(b) - __popc(pair.repeats);
}

/// Marks the places of both leaves; the bits are zeros before, in whole steps.
template <int threads>
__device__ void mark_pair(const SumToCount& of, Index leaf, unsigned* bits, int thread) {
  mark_leaf<threads>({leaf_of_a(of.pairs, leaf), false}, bits, thread);
  mark_leaf<threads>({leaf_of_b(of.pairs, leaf), of.pairs.transposes_b}, bits, thread);
}
/// All threads of a block take part.
__device__ void count_large(const SumToCount& of, Index leaf, unsigned* bits, int words) {
  const auto thread = static_cast<int>(threadIdx.x);
  clear_bits<block_size>(bits, words, thread);
  __syncthreads();
  mark_pair<block_size>(of, leaf, bits, thread);
  __syncthreads();
  const Sums held = sums_of_block(count_bits<block_size>(bits, words, thread));
  if (thread == 0) of.held[leaf] = static_cast<int>(held.all);
}
__device__ void count_medium(const SumToCount& of, Index leaf, unsigned* bits, int words) {
  const auto lane = static_cast<int>(threadIdx.x % 32);
  clear_bits<32>(bits, words, lane);
  __syncwarp();
  mark_pair<32>(of, leaf, bits, lane);
  __syncwarp();
  const int held = sum_of_warp(count_bits<32>(bits, words, lane));
  if (lane == 0) of.held[leaf] = held;
}
/// Counts the entries of all pairs in the lists.
__device__ void count_listed(const SumToCount& of) {
  __shared__ alignas(16) unsigned bits[warps_of_block][max_words_of_warp];
  static_assert(sizeof bits >= sizeof(unsigned) * PlaceBits::max_words);
  const int words = max(words_of_step, PlaceBits::words_of(of.pairs.shape.positions()));
  const int large = of.counted->large;
  for (auto item = static_cast<int>(blockIdx.x); item < large;
       item += static_cast<int>(gridDim.x)) {
    count_large(of, of.listed.large[item], bits[0], words);
  }
  __syncthreads();
  const auto warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const int medium = of.counted->medium, items = medium + of.counted->small;
  for (auto item = static_cast<int>(blockIdx.x) * warps_of_block + warp; item < items;
       item += static_cast<int>(gridDim.x) * warps_of_block) {
    if (item < medium) {
      count_medium(of, of.listed.medium[item], bits[warp], words);
    } else {
      count_small(of, of.listed.small[item - medium], lane);
    }
    __syncwarp();
  }
}

/// Gives the counted leaves of the sum and the nodes above them their places.
__device__ __forceinline__ void place_sum(const SumToPlace& of, Offset leaves) {
  __shared__ Offset nodes[max_levels];
  const Children made{of.row, of.column, leaves};
  const NodesToPlace to_place{leaves, of.pairs.shape, of.held, nullptr, of.byte};
  mark_levels(of.above, made);
  wait_for_all();
  sum_nodes(to_place, of.above.of_block, of.counted->of_kind);
  sum_blocks(of.above);
  wait_for_all();
  const PlacedNodes placed = place_nodes(to_place, 0, of.above.of_block);
  number_blocks(of.above, nodes);
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    of.counted->leaves = leaves;
    of.counted->entries = placed.held;
    of.counted->bytes = placed.end;
  }
  if (of.above.levels == 0) return;
  wait_for_all();
  place_levels(of.above, made, nodes, placed.end);
}

__global__ void __launch_bounds__(block_size, blocks_of_multiprocessor)
    count_sum(const __grid_constant__ SumToCount of) {
  const Offset leaves = of.a.count + take_lone_leaves(of);
  for_all(of.a.count, [&](Offset i) {
    const Index row = of.a.row_of(i), column = of.a.leaf[i].block;
    const Offset j = of.b.first_not_before(row, column);
    take_pair<true>(of, i + of.lone[j], i, of.b.is_at(j, row, column) ? j : -1, row, column);
  });
  wait_for_all();
  count_listed(of);
  place_sum(of, leaves);
}

__global__ void __launch_bounds__(block_size, blocks_of_multiprocessor)
    place_walked(const __grid_constant__ WalkedSum of) {
  for_all(of.leaves, [&](Offset leaf) {
    const Index record = of.order[leaf];
    const auto row = static_cast<Index>(of.place[leaf] >> of.column_bits);
    const auto column = static_cast<Index>(of.place[leaf] & ((1ULL << of.column_bits) - 1));
    of.held[leaf] = of.counts[record];
    take_pair<false>(of, leaf, of.pairs.a[record].node != 0 ? record : -1,
                     of.pairs.b[record].node != 0 ? record : -1, row, column);
  });
  wait_for_all();
  place_sum(of, of.leaves);
}

LeavesByRows by_rows(const TreeSchedule& schedule) {
  return {schedule.cut.leaves.data(), schedule.first.data(),
          static_cast<Index>(schedule.first.size()) - 1,
          static_cast<Offset>(schedule.cut.leaves.size())};
}

}  // namespace

struct CountedPairs::Room {
  UnsetArray<Offset> of_block;
  Array<CountedSum> counted;
  SumToPlace sum;
};

CountedPairs::Room CountedPairs::room_for(const heddle::detail::Tree& tree,
                                          const heddle::device::TreeLeaf* a,
                                          const heddle::device::TreeLeaf* b, bool transposes_b,
                                          Offset most, unsigned blocks, const Device& device) {
  const auto capacity = static_cast<std::size_t>(most);
  const NodeShape& shape = tree.leaf;
  leaves_.shape = shape;
  leaves_.rows = static_cast<Index>(shape.blocks_of(tree.rows));
  leaves_.columns = static_cast<Index>(shape.blocks_of(tree.columns));
  for (UnsetArray<Index>* const array :
       {&of_a_, &of_b_, &small_, &medium_, &large_, &leaves_.row, &leaves_.column}) {
    *array = UnsetArray<Index>(capacity, device);
  }
  leaves_.held = UnsetArray<int>(capacity, device);
  leaves_.byte = UnsetArray<Offset>(capacity, device);
  Room room{UnsetArray<Offset>(sums_of_a_block * std::size_t(blocks), device),
            Array<CountedSum>(1, device),
            {}};
  SumToPlace& of = room.sum;
  const int levels = heddle::detail::levels_of(tree.rows, tree.columns, shape.log2_size);
  if (levels > 1 && most > 0 && InnerLevels::suit(tree.rows, tree.columns, shape.log2_size)) {
    inner_.emplace(leaves_.rows, leaves_.columns, shape.log2_size, most, levels, device);
    of.above = inner_->to_count(room.of_block.data());
  }
  of.above.of_block = room.of_block.data();
  of.above.counted = &room.counted.data()->inner;
  pairs_ = {a, b, of_a_.data(), of_b_.data(), shape, transposes_b};
  listed_ = {small_.data(), medium_.data(), large_.data()};
  of.pairs = pairs_;
  of.listed = listed_;
  of.row = leaves_.row.data();
  of.column = leaves_.column.data();
  of.held = leaves_.held.data();
  of.byte = leaves_.byte.data();
  of.counted = room.counted.data();
  return room;
}

void CountedPairs::take(const TreeOnGpu& A, const Room& room, const Device& device) {
  available_ = A.device().available_memory();  // while the kernel runs
  counted_ = read_value(room.counted.data(), device);
  leaves_.count = counted_.leaves;
  for (std::size_t kind = 0; kind < node_kinds; ++kind) {
    leaves_.counts.of_kind[kind] = counted_.of_kind[kind];
  }
  leaves_.counts.items = counted_.entries;
  leaves_.counts.bytes = counted_.bytes;
  if (inner_) inner_->take(counted_.inner, counted_.bytes);
}

CountedPairs::CountedPairs(const TreeOnGpu& A, const TreeOnGpu& B, bool transposes_b,
                           const Device& device) {
  const heddle::detail::Tree &tree = A.matrix().tree(), &other = B.matrix().tree();
  const LeavesByRows a = by_rows(A.schedule(false)), b = by_rows(B.schedule(transposes_b));
  const Offset most = a.count + b.count;
  if (most > std::numeric_limits<Index>::max()) {
    throw Error(ErrorKind::unsupported, "a GPU adds only trees of fewer than 2^31 leaves");
  }
  const Stream& stream = device.stream();
  const unsigned blocks =
      blocks_side_by_side(32 * most + (tree.entries + other.entries) / 8, stream);
  const Room room = room_for(tree, a.leaf, b.leaf, transposes_b, most, blocks, device);
  UnsetArray<Offset> before_in_a(static_cast<std::size_t>(b.count), device),
      lone(before_in_a.size() + 1, device);
  SumToCount of{room.sum, a, b, before_in_a.data(), lone.data()};
  launch_side_by_side(count_sum, blocks, stream, of);
  take(A, room, device);
}

CountedPairs::CountedPairs(const TreeOnGpu& A, WalkedPairs walked, bool transposes_b,
                           const Device& device)
    : walked_(std::move(walked)) {
  const unsigned blocks = blocks_side_by_side(walked_.count, device.stream());
  const Room room = room_for(A.matrix().tree(), walked_.a.data(), walked_.b.data(), transposes_b,
                             walked_.count, blocks, device);
  WalkedSum of{room.sum,      walked_.order.data(), walked_.place.data(), walked_.held.data(),
               walked_.count, walked_.column_bits};
  launch_side_by_side(place_walked, blocks, device.stream(), of);
  take(A, room, device);
}

}  // namespace heddle::cuda
