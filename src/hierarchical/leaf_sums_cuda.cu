// The leaves of a sum: a thread, a warp or a block of threads merges each pair of leaves by the
// ranks of its places.
#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "entry_terms.hpp"
#include "pairs_of_leaves_cuda.cuh"
#include "side_by_side_cuda.cuh"

namespace heddle::cuda {

namespace {

/// Counts the entries of a leaf of the sum, or lists it.
__device__ void count_by_thread(const PairsOfLeaves& pairs, Offset leaf, Offset leaves, int* held,
                                Index* list, ListedPairs::Counts* listed) {
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
  if (slots > 0 && leaf.kind == NodeKind::dense && !turns) {
    const auto* const own = reinterpret_cast<const unsigned*>(leaf.places());
    for (int word = static_cast<int>(thread); word < PlaceBits::words_of(slots);
         word += block_size) {
      atomicOr(bits + word, own[word]);
    }
    return;
  }
  for (int slot = static_cast<int>(thread); slot < slots; slot += block_size) {
    const int position = position_at(leaf, slot, turns);
    if (position < 0) continue;
    atomicOr(bits + position / PlaceBits::bits_of_word, PlaceBits::bit_of(position));
  }
}

__device__ void count_by_block(const PairsOfLeaves& pairs, Offset leaf, PlaceRoom& room,
                               int* held) {
  const unsigned thread = threadIdx.x;
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
  const unsigned all = number_places(room, words, thread);
  if (thread == block_size - 1) held[leaf] = static_cast<int>(all);
}

/// Blocks of threads take the pairs at the end of a list in turn.
__global__ void __launch_bounds__(block_size)
    count_large(PairsOfLeaves pairs, const Index* end_of_list, const ListedPairs::Counts* listed,
                int* held) {
  __shared__ PlaceRoom room;
  for (int k = static_cast<int>(blockIdx.x); k < listed->of_blocks;
       k += static_cast<int>(gridDim.x)) {
    count_by_block(pairs, end_of_list[-1 - k], room, held);
    __syncthreads();
  }
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
  /// A dense leaf may have held other places; so many threads take part.
  __device__ void clear(int thread, int threads) const {
    auto* const words = reinterpret_cast<uint4*>(to);
    const Offset end = of.pairs.shape.bytes(kind, held) / Offset{sizeof(uint4)};
    for (Offset word = 1 + thread; word < end; word += threads) words[word] = {0, 0, 0, 0};
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
  if (to.kind == NodeKind::dense) to.clear(0, 1);
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
  if (to.kind == NodeKind::dense) to.clear(lane, 32);
  __syncwarp();
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

/// Whether a dense leaf of the sum comes of dense leaves alone, where no place has to be searched.
template <class S>
__device__ bool is_of_places(const LeafToWrite<S>& to, const NodeView& a, const NodeView& b) {
  const auto is_direct = [](const NodeView& leaf) {
    return leaf.data == nullptr || leaf.kind == NodeKind::dense;
  };
  return to.kind == NodeKind::dense && is_direct(a) && is_direct(b);
}

struct SumRoom {
  PlaceRoom places;
  unsigned bits_of_a[PlaceBits::most_words];
};

template <class S>
__device__ void write_by_block(const SumToWrite<S>& of, Offset leaf, SumRoom& space) {
  PlaceRoom& room = space.places;
  unsigned* const bits_of_a = space.bits_of_a;
  const unsigned thread = threadIdx.x;
  const NodeView a = of.pairs.in_a(leaf), b = of.pairs.in_b(leaf);
  const LeafToWrite<S> to(of, leaf);
  if (is_of_places(to, a, b)) return;
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
  const PlaceBits places{room.bits, room.before}, places_of_a{bits_of_a, nullptr};
  if (thread == 0) to.put_count();
  if (to.kind == NodeKind::dense) {
    to.clear(static_cast<int>(thread), block_size);
    __syncthreads();
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

template <class S>
__global__ void __launch_bounds__(block_size)
    write_large(const __grid_constant__ SumToWrite<S> of, const Index* end_of_list,
                const ListedPairs::Counts* listed) {
  __shared__ SumRoom room;
  for (int k = static_cast<int>(blockIdx.x); k < listed->of_blocks;
       k += static_cast<int>(gridDim.x)) {
    write_by_block(of, end_of_list[-1 - k], room);
    __syncthreads();
  }
}

constexpr int parts_of_dense = 4;

/// Each place of a dense leaf of the sum by itself, in parts of a leaf, so that few leaves fill a
/// GPU.
template <class S>
__global__ void __launch_bounds__(block_size)
    write_dense(const __grid_constant__ SumToWrite<S> of, const Index* end_of_list,
                const ListedPairs::Counts* listed) {
  const NodeShape& shape = of.pairs.shape;
  const int positions = static_cast<int>(shape.positions());
  const int part = max(positions / parts_of_dense, block_size);
  const int lane = static_cast<int>(threadIdx.x % 32);
  for (int item = static_cast<int>(blockIdx.x); item < parts_of_dense * listed->of_blocks;
       item += static_cast<int>(gridDim.x)) {
    const Offset leaf = end_of_list[-1 - item / parts_of_dense];
    const LeafToWrite<S> to(of, leaf);
    const NodeView a = of.pairs.in_a(leaf), b = of.pairs.in_b(leaf);
    if (!is_of_places(to, a, b)) continue;
    const int begin = item % parts_of_dense * part, end = min(begin + part, positions);
    if (begin == 0 && threadIdx.x == 0) to.put_count();
    for (int base = begin + static_cast<int>(threadIdx.x) - lane; base < end; base += block_size) {
      const int position = base + lane;
      const bool is_inside = position < end;
      const LocalPlace place = shape.place_at(position);
      const int in_b = of.pairs.turns_b ? shape.position_of({place.column, place.row}) : position;
      const bool has_a = is_inside && a.data != nullptr && a.has(position);
      const bool has_b = is_inside && b.data != nullptr && b.has(in_b);
      const unsigned there = __ballot_sync(~0U, has_a || has_b);
      if (lane == 0) to.bits()[base / PlaceBits::bits_of_word] = there;
      if (!is_inside) continue;
      S* const payload = to.payload(0, position);
      for (int k = 0; k < of.components; ++k) {
        const S first = has_a ? of.of_a(of.payload(a, position), k) : S(0);
        const S second = has_b ? of.of_b(of.payload(b, in_b), k) : S(0);
        payload[k] = !has_a ? second : !has_b ? first : rounded_sum(first, second);
      }
    }
  }
}

/// Blocks of threads that take the pairs of a list in turn: the host does not know how many there
/// are, and does not wait to learn it.
unsigned blocks_in_turn(Offset blocks, const Stream& stream) {
  return 2 * blocks_side_by_side(blocks * block_size, stream);
}

/// Calls `body(leaf, lane)` with a warp for each leaf at the front of a list.
template <class Body>
void for_each_warp(const ListedPairs& listed, const Stream& stream, const Body& body) {
  constexpr int warps = block_size / 32;
  const Offset blocks = blocks_in_turn((listed.leaves() + warps - 1) / warps, stream);
  for_each_thread(stream, blocks,
                  [list = listed.list.data(), counts = listed.counts.data(), blocks,
                   body] __device__(Offset block, unsigned thread) {
                    for (Offset k = block * warps + thread / 32; k < counts->of_warps;
                         k += blocks * warps) {
                      body(list[k], static_cast<int>(thread % 32));
                    }
                  });
}

template <class S>
void write_words(const PairsOfLeaves& pairs, const ListedPairs& listed, const EntrySum& sum,
                 const LeavesOfSum& leaves, const Device& device) {
  const Array<int> adjoint(sum.adjoint, device);
  const auto term = [&](const double* factor, const int* turned) {
    return EntryTerm<S>{static_cast<S>(factor[0]), static_cast<S>(factor[1]), sum.is_complex,
                        turned};
  };
  const SumToWrite<S> of{pairs,
                         leaves.held,
                         leaves.byte,
                         leaves.pool,
                         sum.components,
                         term(sum.alpha, nullptr),
                         term(sum.beta, adjoint.data())};
  const Stream& stream = device.stream();
  for_each_index(stream, listed.leaves(),
                 [of] __device__(Offset leaf) { write_by_thread(of, leaf); });
  for_each_warp(listed, stream,
                [of] __device__(Offset leaf, int lane) { write_by_warp(of, leaf, lane); });
  const OnGpu here(stream);
  launch_kernel(write_large<S>, blocks_in_turn(listed.leaves(), stream), block_size, false, stream,
                of, listed.list.data() + listed.leaves(), listed.counts.data());
  if (leaves.has_dense) {
    launch_kernel(write_dense<S>, blocks_in_turn(parts_of_dense * listed.leaves(), stream),
                  block_size, false, stream, of, listed.list.data() + listed.leaves(),
                  listed.counts.data());
  }
  wait_before_memory_goes_back(device);
}

}  // namespace

ListedPairs count_pairs(const PairsOfLeaves& pairs, Offset leaves, int* held,
                        const Device& device) {
  const Stream& stream = device.stream();
  ListedPairs listed;
  listed.list = UnsetArray<Index>(static_cast<std::size_t>(leaves), device);
  listed.counts = Array<ListedPairs::Counts>(1, device);
  for_each_index(
      stream, leaves,
      [pairs, leaves, held, list = listed.list.data(), counts = listed.counts.data()] __device__(
          Offset leaf) { count_by_thread(pairs, leaf, leaves, held, list, counts); });
  for_each_warp(listed, stream, [pairs, held] __device__(Offset leaf, int lane) {
    count_by_warp(pairs, leaf, lane, held);
  });
  const OnGpu here(stream);
  launch_kernel(count_large, blocks_in_turn(leaves, stream), block_size, false, stream, pairs,
                static_cast<const Index*>(listed.list.data() + leaves),
                static_cast<const ListedPairs::Counts*>(listed.counts.data()), held);
  return listed;
}

void write_pairs(const PairsOfLeaves& pairs, const ListedPairs& listed, const EntrySum& sum,
                 const LeavesOfSum& leaves, const Device& device) {
  if (sum.scalar_bytes == int{sizeof(float)}) {
    write_words<float>(pairs, listed, sum, leaves, device);
  } else {
    write_words<double>(pairs, listed, sum, leaves, device);
  }
}

}  // namespace heddle::cuda
