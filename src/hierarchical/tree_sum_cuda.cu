// Sums of trees on a GPU: the blocks of both are numbered, which makes the leaves, and a thread, a
// warp or a block of threads merges each pair of leaves by the ranks of its places.
#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "base/temporary_memory_cuda.hpp"
#include "entry_terms.hpp"
#include "heddle/detail/slice_arithmetic.hpp"
#include "heddle/detail/tree_building_cuda.hpp"
#include "heddle/error.hpp"
#include "pairs_of_leaves_cuda.cuh"
#include "place_bits.cuh"
#include "tree_levels_cuda.hpp"
#include "tree_schedule_cuda.hpp"

namespace heddle::cuda {

namespace {

/// Leaves that warps merge stand at the front of a list, those of blocks of threads at its end.
struct Listed {
  int of_warps;
  int of_blocks;
};

/// Counts the entries of a leaf of the sum, or lists it.
__device__ void count_by_thread(const PairsOfLeaves& pairs, Offset leaf, Offset leaves, int* held,
                                Index* list, Listed* listed) {
  const NodeView a = pairs.in_a(leaf), b = pairs.in_b(leaf);
  if (fits_in_thread(a, b)) {
    const ThreadPair pair(a, b, pairs.turns_b);
    held[leaf] = pair.all - __popc(pair.repeats);
  } else if (fits_in_warp(a, b)) {
    list[atomicAdd(&listed->of_warps, 1)] = static_cast<Index>(leaf);
  } else {
    list[leaves - 1 - atomicAdd(&listed->of_blocks, 1)] = static_cast<Index>(leaf);
  }
}

__device__ void count_by_warp(const PairsOfLeaves& pairs, Offset leaf, int lane, int* held) {
  const NodeView a = pairs.in_a(leaf), b = pairs.in_b(leaf);
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
__device__ void write_by_thread(const SumToWrite<S>& of, Offset leaf) {
  const NodeView a = of.pairs.in_a(leaf), b = of.pairs.in_b(leaf);
  if (!fits_in_thread(a, b)) return;
  const ThreadPair pair(a, b, of.pairs.turns_b);
  const LeafToWrite<S> to(of, leaf);
  to.put_count();
#pragma unroll
  for (int k = 0; k < entries_of_thread; ++k) {
    if (k >= pair.all || (pair.repeats >> k & 1U) != 0) continue;
    const int rank = pair.rank(k), position = pair.position[k], partner = pair.partner(k);
    if (to.kind == NodeKind::dense) {
      to.bits()[position / PlaceBits::bits_of_word] |= PlaceBits::bit_of(position);
    } else {
      to.put_place(rank, position);
    }
    const bool is_of_a = k < pair.in_a;
    const S* const own = is_of_a ? of.payload(a, k) : of.payload(b, k - pair.in_a);
    const S* const other = partner < 0 ? nullptr : of.payload(b, partner - pair.in_a);
    S* const payload = to.payload(rank, position);
    for (int c = 0; c < of.components; ++c) {
      const S first = is_of_a ? of.of_a(own, c) : of.of_b(own, c);
      payload[c] = other == nullptr ? first : rounded_sum(first, of.of_b(other, c));
    }
  }
}

template <class S>
__device__ void write_by_warp(const SumToWrite<S>& of, Offset leaf, int lane) {
  const NodeView a = of.pairs.in_a(leaf), b = of.pairs.in_b(leaf);
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

/// Calls `body(leaf, lane)` with a warp for each leaf of a list.
template <class Body>
void for_each_warp(const Index* list, int leaves, const Stream& stream, const Body& body) {
  constexpr int warps = block_size / 32;
  for_each_thread(stream, (Offset(leaves) + warps - 1) / warps,
                  [list, leaves, body] __device__(Offset block, unsigned thread) {
                    const Offset k = block * warps + thread / 32;
                    if (k < leaves) body(list[k], static_cast<int>(thread % 32));
                  });
}

template <class S>
void write_sum(const PairsOfLeaves& pairs, const EntrySum& sum, TreeBuilderOnGpu& builder,
               const UnsetArray<Index>& list, const Listed& listed, const Device& device) {
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
  for_each_index(stream, leaves.nodes(),
                 [of] __device__(Offset leaf) { write_by_thread(of, leaf); });
  for_each_warp(list.data(), listed.of_warps, stream,
                [of] __device__(Offset leaf, int lane) { write_by_warp(of, leaf, lane); });
  const OnGpu here(stream);
  if (listed.of_blocks > 0) {
    launch_kernel(write_large<S>, static_cast<unsigned>(listed.of_blocks), block_size, false,
                  stream, of, list.data() + leaves.nodes() - listed.of_blocks);
  }
  wait_before_memory_goes_back(device);
}

}  // namespace

heddle::detail::Tree sum_of_trees(const TreeOnGpu& A, const TreeOnGpu& B, bool turns_b,
                                  const EntrySum& sum) {
  const Device& device = A.device();
  const Stream& stream = device.stream();
  const TemporaryMemory space(device);
  const Device& work = space.device();
  const heddle::detail::Tree& tree = A.matrix().tree();
  const TreeSchedule &of_a = A.schedule(false), &of_b = B.schedule(turns_b);
  SourcesOfLeaves sources;
  LevelOnGpu leaves = leaves_of_sum(
      of_a, of_b, tree.leaf, static_cast<Index>(tree.leaf.blocks_of(tree.columns)), sources, work);
  const PairsOfLeaves pairs{of_a.cut.leaves.data(),
                            of_b.cut.leaves.data(),
                            sources.a.data(),
                            sources.b.data(),
                            tree.leaf,
                            turns_b};
  const Offset nodes = leaves.nodes();
  UnsetArray<Index> list(leaves.row.size(), work);
  Array<Listed> listed(1, work);
  for_each_index(stream, nodes,
                 [pairs, nodes, held = leaves.held.data(), list = list.data(),
                  listed = listed.data()] __device__(Offset leaf) {
                   count_by_thread(pairs, leaf, nodes, held, list, listed);
                 });
  const Listed found = listed.to_host()[0];
  for_each_warp(list.data(), found.of_warps, stream,
                [pairs, held = leaves.held.data()] __device__(Offset leaf, int lane) {
                  count_by_warp(pairs, leaf, lane, held);
                });
  if (found.of_blocks > 0) {
    const OnGpu here(stream);
    launch_kernel(count_large, static_cast<unsigned>(found.of_blocks), block_size, false, stream,
                  pairs, static_cast<const Index*>(list.data() + nodes - found.of_blocks),
                  leaves.held.data());
  }
  count_level(leaves, work);
  TreeBuilderOnGpu builder(tree.rows, tree.columns, std::move(leaves), device, work);
  if (sum.scalar_bytes == int{sizeof(float)}) {
    write_sum<float>(pairs, sum, builder, list, found, work);
  } else {
    write_sum<double>(pairs, sum, builder, list, found, work);
  }
  return builder.finish();
}

}  // namespace heddle::cuda
