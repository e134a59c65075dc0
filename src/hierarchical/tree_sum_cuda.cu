// Sums of trees on a GPU: the blocks of both are numbered, which makes the leaves, and a warp or a
// block of threads merges each pair of leaves by the ranks of its places.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "entry_terms.hpp"
#include "heddle/detail/slice_arithmetic.hpp"
#include "heddle/detail/tree_building_cuda.hpp"
#include "heddle/error.hpp"
#include "place_bits.cuh"
#include "tree_levels_cuda.hpp"
#include "tree_schedule_cuda.hpp"

namespace heddle::cuda {

namespace {

using heddle::device::TreeLeaf;

/// The leaves of both trees behind the leaves of a sum, by numbers; -1 for none.
struct PairsOfLeaves {
  const TreeLeaf* a;
  const TreeLeaf* b;
  const Index* of_a;
  const Index* of_b;
  NodeShape shape;
  bool turns_b;

  __device__ NodeView view(const TreeLeaf* leaves, Index i) const {
    if (i < 0) return {nullptr, NodeKind::coo1, shape};
    return {reinterpret_cast<const unsigned char*>(leaves[i].address()), leaves[i].kind(), shape};
  }
  __device__ NodeView in_a(Offset leaf) const { return view(a, of_a[leaf]); }
  __device__ NodeView in_b(Offset leaf) const { return view(b, of_b[leaf]); }
};

__device__ int count_of(const NodeView& leaf) { return leaf.data == nullptr ? 0 : leaf.count(); }
/// Entries of a leaf, or places of a dense one.
__device__ int slots_of(const NodeView& leaf) {
  return leaf.data != nullptr && leaf.kind == NodeKind::dense
             ? static_cast<int>(leaf.shape.positions())
             : count_of(leaf);
}
/// Where the entry of a slot lies, or -1 where a dense leaf has none there.
__device__ int position_at(const NodeView& leaf, int slot, bool turns) {
  if (leaf.kind == NodeKind::dense && !leaf.has(slot)) return -1;
  LocalPlace place = leaf.kind == NodeKind::dense ? leaf.shape.place_at(slot) : leaf.places()[slot];
  if (turns) place = {place.column, place.row};
  return leaf.shape.position_of(place);
}

/// A warp merges leaves of few entries, a lane each.
__device__ bool fits_in_warp(const NodeView& a, const NodeView& b) {
  const auto is_dense = [](const NodeView& leaf) {
    return leaf.data != nullptr && leaf.kind == NodeKind::dense;
  };
  return !is_dense(a) && !is_dense(b) && count_of(a) + count_of(b) <= entries_of_warp;
}

/// What lanes know of the entries of a pair: those of a come first.
struct LanePair {
  int position;
  int partner = -1;      // the lane of the entry of the other leaf in this place
  unsigned smaller = 0;  // lanes of earlier places
  unsigned repeats = 0;  // lanes of b whose place a has too

  __device__ LanePair(const NodeView& a, const NodeView& b, bool turns_b, int lane) {
    const int in_a = count_of(a), all = in_a + count_of(b);
    position = lane < in_a  ? position_at(a, lane, false)
               : lane < all ? position_at(b, lane - in_a, turns_b)
                            : -1 - lane;
    for (int k = 0; k < all; ++k) {
      const int other = __shfl_sync(~0U, position, k);
      if (other < position) smaller |= 1U << k;
      if (other == position && k != lane) partner = k;
    }
    repeats = __ballot_sync(~0U, lane >= in_a && lane < all && partner >= 0);
  }
};

/// Counts the entries of leaves of the sum, but of those that a block of threads merges, which it
/// lists.
__device__ void count_by_warp(const PairsOfLeaves& pairs, Offset leaf, int lane, int* held,
                              Index* large, int* larges) {
  const NodeView a = pairs.in_a(leaf), b = pairs.in_b(leaf);
  if (!fits_in_warp(a, b)) {
    if (lane == 0) large[atomicAdd(larges, 1)] = static_cast<Index>(leaf);
    return;
  }
  const LanePair pair(a, b, pairs.turns_b, lane);
  if (lane == 0) held[leaf] = count_of(a) + count_of(b) - __popc(pair.repeats);
}

/// Sets the bits of the places of a leaf.
__device__ void mark_places(const NodeView& leaf, bool turns, unsigned thread, unsigned* bits) {
  const int slots = slots_of(leaf);
  for (int slot = static_cast<int>(thread); slot < slots; slot += block_size) {
    const int position = position_at(leaf, slot, turns);
    if (position < 0) continue;
    atomicOr(bits + position / PlaceBits::bits_of_word, PlaceBits::bit_of(position));
  }
}

__global__ void __launch_bounds__(block_size)
    count_large(PairsOfLeaves pairs, const Index* large, int* held) {
  __shared__ PlaceRoom room;
  const unsigned thread = threadIdx.x;
  const Index leaf = large[blockIdx.x];
  const NodeView a = pairs.in_a(leaf), b = pairs.in_b(leaf);
  if (a.data == nullptr || b.data == nullptr) {
    if (thread == 0) held[leaf] = count_of(a) + count_of(b);
    return;
  }
  const int words = PlaceBits::words_of(pairs.shape.positions());
  for (int word = static_cast<int>(thread); word < words; word += block_size) room.bits[word] = 0;
  __syncthreads();
  mark_places(a, false, thread, room.bits);
  mark_places(b, pairs.turns_b, thread, room.bits);
  __syncthreads();
  const unsigned own = number_places(room, words, thread);
  const unsigned before = sum_before(own, thread, room.of_warp);
  if (thread == block_size - 1) held[leaf] = static_cast<int>(before + own);
}

/// What writes the leaves of a sum.
template <class S>
struct SumToWrite {
  PairsOfLeaves pairs;
  const int* held;
  const Offset* byte;
  unsigned char* pool;
  int components;
  EntryTerm<S> of_a, of_b;

  __device__ const S* payload(const NodeView& leaf, int slot) const {
    return reinterpret_cast<const S*>(leaf.payloads()) + Offset(slot) * components;
  }
};

/// A leaf of the sum as it is written.
template <class S>
struct LeafToWrite {
  const SumToWrite<S>& of;
  unsigned char* to;
  int held;
  NodeKind kind;
  S* payloads;

  __device__ LeafToWrite(const SumToWrite<S>& sum, Offset leaf)
      : of(sum),
        to(sum.pool + sum.byte[leaf]),
        held(sum.held[leaf]),
        kind(sum.pairs.shape.kind_of(held)),
        payloads(reinterpret_cast<S*>(to + sum.pairs.shape.payload_byte(kind, held))) {}
  __device__ void put_count() const { *reinterpret_cast<unsigned*>(to) = unsigned(held); }
  __device__ unsigned* bits() const {
    return reinterpret_cast<unsigned*>(to + NodeShape::places_byte(kind));
  }
  __device__ void put_place(int rank, int position) const {
    reinterpret_cast<LocalPlace*>(to + NodeShape::places_byte(kind))[rank] =
        of.pairs.shape.place_at(position);
  }
  __device__ S* payload(int rank, int position) const {
    return payloads + Offset(kind == NodeKind::dense ? position : rank) * of.components;
  }
};

template <class S>
__device__ void write_by_warp(const SumToWrite<S>& of, Offset leaf, int lane) {
  const NodeView a = of.pairs.in_a(leaf), b = of.pairs.in_b(leaf);
  if (!fits_in_warp(a, b)) return;
  const LanePair pair(a, b, of.pairs.turns_b, lane);
  const int in_a = count_of(a), all = in_a + count_of(b);
  const S* own = nullptr;
  if (lane < all) own = lane < in_a ? of.payload(a, lane) : of.payload(b, lane - in_a);
  const auto address = reinterpret_cast<unsigned long long>(own);
  const auto* const other =
      reinterpret_cast<const S*>(__shfl_sync(~0U, address, pair.partner < 0 ? lane : pair.partner));
  const LeafToWrite<S> to(of, leaf);
  if (lane == 0) to.put_count();
  if (lane >= all || (pair.repeats >> lane & 1U) != 0) return;
  const int rank = __popc(pair.smaller & ~pair.repeats);
  if (to.kind == NodeKind::dense) {
    atomicOr(to.bits() + pair.position / PlaceBits::bits_of_word, PlaceBits::bit_of(pair.position));
  } else {
    to.put_place(rank, pair.position);
  }
  S* const payload = to.payload(rank, pair.position);
  for (int k = 0; k < of.components; ++k) {
    const S first = lane < in_a ? of.of_a(own, k) : of.of_b(own, k);
    payload[k] = pair.partner < 0 ? first : rounded_sum(first, of.of_b(other, k));
  }
}

template <class S>
__global__ void __launch_bounds__(block_size) write_large(SumToWrite<S> of, const Index* large) {
  __shared__ PlaceRoom room;
  __shared__ unsigned bits_of_a[PlaceBits::most_words];
  const unsigned thread = threadIdx.x;
  const Index leaf = large[blockIdx.x];
  const NodeView a = of.pairs.in_a(leaf), b = of.pairs.in_b(leaf);
  const int words = PlaceBits::words_of(of.pairs.shape.positions());
  for (int word = static_cast<int>(thread); word < words; word += block_size) bits_of_a[word] = 0;
  __syncthreads();
  mark_places(a, false, thread, bits_of_a);
  __syncthreads();
  for (int word = static_cast<int>(thread); word < words; word += block_size) {
    room.bits[word] = bits_of_a[word];
  }
  __syncthreads();
  mark_places(b, of.pairs.turns_b, thread, room.bits);
  __syncthreads();
  number_places(room, words, thread);
  const LeafToWrite<S> to(of, leaf);
  const PlaceBits places{room.bits, room.before}, places_of_a{bits_of_a, nullptr};
  if (thread == 0) to.put_count();
  if (to.kind == NodeKind::dense) {
    for (int word = static_cast<int>(thread); word < words; word += block_size) {
      to.bits()[word] = room.bits[word];
    }
  }
  const auto write = [&](const NodeView& from, bool is_a) {
    const int slots = slots_of(from);
    for (int slot = static_cast<int>(thread); slot < slots; slot += block_size) {
      const int position = position_at(from, slot, !is_a && of.pairs.turns_b);
      if (position < 0) continue;
      const int rank = places.number_of(position);
      const bool adds = !is_a && places_of_a.has(position);
      if (to.kind != NodeKind::dense && !adds) to.put_place(rank, position);
      const S* const entry = of.payload(from, slot);
      S* const payload = to.payload(rank, position);
      for (int k = 0; k < of.components; ++k) {
        const S term = is_a ? of.of_a(entry, k) : of.of_b(entry, k);
        payload[k] = adds ? rounded_sum(payload[k], term) : term;
      }
    }
  };
  write(a, true);
  __syncthreads();
  write(b, false);
}

/// Block rows and columns of the leaves of a schedule, from `to` on.
void list_leaves(const TreeSchedule& schedule, Offset to, UnsetArray<Index>& row,
                 UnsetArray<Index>& column, const Stream& stream) {
  const auto blocks = static_cast<Index>(schedule.first.size()) - 1;
  for_each_index(stream, static_cast<Offset>(schedule.cut.leaves.size()),
                 [to, blocks, first = schedule.first.data(), leaves = schedule.cut.leaves.data(),
                  row = row.data(), column = column.data()] __device__(Offset i) {
                   row[to + i] = last_not_above(first, blocks, i);
                   column[to + i] = leaves[i].block;
                 });
}

/// Which leaf of either tree is at each leaf of the sum.
struct SourcesOfLeaves {
  Array<Index> a, b;
};

/// The leaves of a sum without their entries.
LevelOnGpu leaves_of_sum(const TreeSchedule& A, const TreeSchedule& B, const NodeShape& shape,
                         Index block_columns, SourcesOfLeaves& sources, const Device& device) {
  const Stream& stream = device.stream();
  const auto in_a = static_cast<Offset>(A.cut.leaves.size());
  const Offset all = in_a + static_cast<Offset>(B.cut.leaves.size());
  if (all > std::numeric_limits<Index>::max()) {
    throw Error(ErrorKind::unsupported, "a GPU adds trees of fewer than 2^31 leaves");
  }
  UnsetArray<Index> row(static_cast<std::size_t>(all), device), column(row.size(), device);
  list_leaves(A, 0, row, column, stream);
  list_leaves(B, in_a, row, column, stream);
  const auto block_rows = static_cast<Index>(A.first.size()) - 1;
  NumberedBlocks blocks({row.data(), column.data(), all, block_rows, block_columns}, 0, device);
  LevelOnGpu leaves;
  leaves.shape = shape;
  write_places(blocks, leaves, device);
  const UnsetArray<Index> number = blocks.numbers();
  constexpr int none = 0xff;  // each byte of -1
  sources = {Array<Index>(leaves.row.size(), device, none),
             Array<Index>(leaves.row.size(), device, none)};
  for_each_index(stream, all,
                 [in_a, number = number.data(), a = sources.a.data(),
                  b = sources.b.data()] __device__(Offset i) {
                   (i < in_a ? a : b)[number[i]] = static_cast<Index>(i < in_a ? i : i - in_a);
                 });
  leaves.held = Array<int>(leaves.row.size(), device);
  wait_before_memory_goes_back(device);
  return leaves;
}

/// Calls `body(leaf, lane)` with a warp for each leaf.
template <class Body>
void for_each_warp(Offset leaves, const Stream& stream, const Body& body) {
  constexpr int warps = block_size / 32;
  for_each_thread(stream, (leaves + warps - 1) / warps,
                  [leaves, body] __device__(Offset block, unsigned thread) {
                    const Offset leaf = block * warps + thread / 32;
                    if (leaf < leaves) body(leaf, static_cast<int>(thread % 32));
                  });
}

template <class S>
void write_sum(const PairsOfLeaves& pairs, const EntrySum& sum, TreeBuilderOnGpu& builder,
               const UnsetArray<Index>& large, int larges, const Device& device) {
  const Array<int> adjoint(sum.adjoint, device);
  const auto term = [&](const double* factor, const int* turned) {
    return EntryTerm<S>{static_cast<S>(factor[0]), static_cast<S>(factor[1]), sum.is_complex,
                        turned};
  };
  const LevelOnGpu& leaves = builder.leaves();
  const SumToWrite<S> of{pairs,
                         leaves.held.data(),
                         leaves.byte.data(),
                         builder.pool(),
                         sum.components,
                         term(sum.alpha, nullptr),
                         term(sum.beta, adjoint.data())};
  const Stream& stream = device.stream();
  for_each_warp(leaves.nodes(), stream,
                [of] __device__(Offset leaf, int lane) { write_by_warp(of, leaf, lane); });
  const OnGpu here(stream);
  if (larges > 0) {
    launch_kernel(write_large<S>, static_cast<unsigned>(larges), block_size, false, stream, of,
                  large.data());
  }
  wait_before_memory_goes_back(device);
}

}  // namespace

heddle::detail::Tree sum_of_trees(const TreeOnGpu& A, const TreeOnGpu& B, bool turns_b,
                                  const EntrySum& sum) {
  const Device& device = A.device();
  const Stream& stream = device.stream();
  const heddle::detail::Tree& tree = A.matrix().tree();
  const TreeSchedule &of_a = A.schedule(false), &of_b = B.schedule(turns_b);
  SourcesOfLeaves sources;
  LevelOnGpu leaves =
      leaves_of_sum(of_a, of_b, tree.leaf, static_cast<Index>(tree.leaf.blocks_of(tree.columns)),
                    sources, device);
  const PairsOfLeaves pairs{of_a.cut.leaves.data(),
                            of_b.cut.leaves.data(),
                            sources.a.data(),
                            sources.b.data(),
                            tree.leaf,
                            turns_b};
  UnsetArray<Index> large(leaves.row.size(), device);
  Array<int> larges(1, device);
  for_each_warp(
      leaves.nodes(), stream,
      [pairs, held = leaves.held.data(), large = large.data(), larges = larges.data()] __device__(
          Offset leaf, int lane) { count_by_warp(pairs, leaf, lane, held, large, larges); });
  const int found = larges.to_host()[0];
  if (found > 0) {
    const OnGpu here(stream);
    launch_kernel(count_large, static_cast<unsigned>(found), block_size, false, stream, pairs,
                  static_cast<const Index*>(large.data()), leaves.held.data());
  }
  count_level(leaves, device);
  TreeBuilderOnGpu builder(tree.rows, tree.columns, std::move(leaves), device);
  if (sum.scalar_bytes == int{sizeof(float)}) {
    write_sum<float>(pairs, sum, builder, large, found, device);
  } else {
    write_sum<double>(pairs, sum, builder, large, found, device);
  }
  return builder.finish();
}

}  // namespace heddle::cuda
