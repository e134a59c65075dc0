// The leaves of a sum: a thread or a warp merges each pair of leaves, or a tile of it, by the ranks
// of its places.
#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "entry_terms.hpp"
#include "node_padding.cuh"
#include "tiles_of_leaves_cuda.cuh"

namespace heddle::cuda {

namespace {

/// What writes the leaves of a sum.
template <class S>
struct SumToWrite {
  PairsOfLeaves pairs;
  ListedPairs listed;
  int small, tiles;
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
  __device__ unsigned* bits() const {
    return reinterpret_cast<unsigned*>(to + NodeShape::places_byte(kind));
  }
  __device__ void put_count_and_padding(int thread, int threads) const {
    cuda::put_count_and_padding(to, of.pairs.shape, kind, held, thread, threads);
  }
  __device__ void clear_places(int thread, int threads) const {
    cuda::clear_places(to, of.pairs.shape, held, thread, threads);
  }
  __device__ void put_place(int rank, int position) const {
    const LocalPlace place = of.pairs.shape.place_at(position);
    reinterpret_cast<unsigned short*>(to + NodeShape::places_byte(kind))[rank] =
        static_cast<unsigned short>(place.row | place.column << 8);
  }
  __device__ S* payload(int rank, int position) const {
    return payloads + Offset(kind == NodeKind::dense ? position : rank) * of.components;
  }
};

template <class S>
__device__ void write_by_thread(const SumToWrite<S>& of, Offset leaf) {
  const NodeView a = leaf_of_a(of.pairs, leaf), b = leaf_of_b(of.pairs, leaf);
  if (!fits_in_thread(a, b)) return;
  const ThreadPair pair(a, b, of.pairs.turns_b);
  const LeafToWrite<S> to(of, leaf);
  to.put_count_and_padding(0, 1);
  if (to.kind == NodeKind::dense) to.clear_places(0, 1);
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
__device__ void write_small(const SumToWrite<S>& of, Offset leaf, int lane) {
  const NodeView a = leaf_of_a(of.pairs, leaf), b = leaf_of_b(of.pairs, leaf);
  const LanePair pair(a, b, of.pairs.turns_b, lane);
  const int in_a = count_of(a), all = in_a + count_of(b);
  const S* own = nullptr;
  if (lane < all) own = lane < in_a ? of.payload(a, lane) : of.payload(b, lane - in_a);
  const auto address = reinterpret_cast<unsigned long long>(own);
  const auto* const other =
      reinterpret_cast<const S*>(__shfl_sync(~0U, address, pair.partner < 0 ? lane : pair.partner));
  const LeafToWrite<S> to(of, leaf);
  to.put_count_and_padding(lane, 32);
  if (to.kind == NodeKind::dense) to.clear_places(lane, 32);
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

/// What a warp knows of its tile.
struct alignas(16) TileRoom {
  unsigned bits[most_words_of_tile];
  unsigned of_a[most_words_of_tile];
  unsigned short before[most_words_of_tile];
};

/// A tile of a leaf of the sum.
template <class S>
struct TileToWrite {
  const SumToWrite<S>& of;
  const LeafToWrite<S>& to;
  TileOfWarp tile;
  TileRoom& room;
  NodeView a, b;
  Slots slots_of_a, slots_of_b;  // that may lie there
  int first = 0;                 // entries of the leaf before it

  static constexpr int at_once = 4;

  __device__ bool has(const unsigned* bits, int position) const {
    return PlaceBits{bits, nullptr}.has(position - tile.begin);
  }
  /// Entries of the tile before this place of it.
  __device__ int number_of(int local) const {
    const int word = local / PlaceBits::bits_of_word;
    return room.before[word] + __popc(room.bits[word] & (PlaceBits::bit_of(local) - 1));
  }
  __device__ int slot_of_b(int position) const {
    return of.pairs.turns_b ? turned(of.pairs.shape, position) : position;
  }
  __device__ int item_of(int at) const { return of.components == 1 ? at : at / of.components; }

  /// Every place of a dense leaf: what dense leaves have there, or zeros.
  __device__ void put_dense() const {
    const bool with_a = is_dense(a), with_b = is_dense(b), turns = with_b && of.pairs.turns_b;
    const S* const of_a = with_a ? of.payload(a, 0) : nullptr;
    const S* const of_b = with_b ? of.payload(b, 0) : nullptr;
    const int end = tile.end * of.components;
    for (int base = tile.begin * of.components + tile.lane; base < end; base += 32 * at_once) {
      S value[at_once];
      int to_put[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int at = base + 32 * k, item = item_of(at), c = at - item * of.components;
        value[k] = S(0);
        to_put[k] = at;
        if (at >= end) continue;
        const int position =
            turns ? tile.position_in_turn(of.pairs.shape, item - tile.begin) : item;
        to_put[k] = position * of.components + c;
        const int slot = slot_of_b(position);
        const bool has_a = with_a && has(room.of_a, position), has_b = with_b && b.has(slot);
        if (has_a) value[k] = of.of_a(of_a + position * of.components, c);
        if (!has_b) continue;
        const S second = of.of_b(of_b + slot * of.components, c);
        value[k] = has_a ? rounded_sum(value[k], second) : second;
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        if (base + 32 * k < end) to.payloads[to_put[k]] = value[k];
      }
    }
    __syncwarp();
  }

  /// Where a component of an entry of one of both leaves goes, and what the other one has put there
  /// in a place that both have. `behind_b`: entries of a come where those of a dense b are.
  struct Target {
    S* payload;
    S other;
    bool adds;
  };
  __device__ Target target(int position, int c, bool is_a, bool behind_b) const {
    const bool adds = is_a ? behind_b && b.has(slot_of_b(position)) : has(room.of_a, position);
    int rank = 0;
    if (to.kind != NodeKind::dense) {
      rank = first + number_of(position - tile.begin);
      if (c == 0 && !adds) to.put_place(rank, position);
    }
    S* const payload = to.payload(rank, position) + c;
    return {payload, adds ? *payload : S(0), adds};
  }
  __device__ static void put(const Target& at, S term, bool is_a) {
    *at.payload = !at.adds ? term
                  : is_a   ? rounded_sum(term, at.other)
                           : rounded_sum(at.other, term);
  }

  __device__ void put_entries(const NodeView& from, bool is_a) const {
    if (from.data == nullptr) return;
    const bool turns = !is_a && of.pairs.turns_b, is_full = is_dense(from);
    const bool behind_b = is_a && to.kind == NodeKind::dense && is_dense(b);
    const S* const payloads = of.payload(from, 0);
    if (looks_in_rows(from, turns, tile)) {
      for_each_turned(from, tile, [&](int slot, int position) {
        const S* const entry = payloads + slot * of.components;
        for (int c = 0; c < of.components; ++c) {
          put(target(position, c, false, false), of.of_b(entry, c), false);
        }
      });
      return;
    }
    const Slots& slots = is_a ? slots_of_a : slots_of_b;
    const bool are_own = !is_full && !turns;
    const int end = slots.end * of.components;
    for (int base = slots.begin * of.components + tile.lane; base < end; base += 32 * at_once) {
      S term[at_once];
      int position[at_once];
      // All loads of a step come before its stores, so that they wait together.
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int at = base + 32 * k, item = item_of(at), c = at - item * of.components;
        position[k] = -1;
        if (at >= end) continue;
        const int slot = is_full && turns ? turned(of.pairs.shape, item) : item;
        if (is_full && !from.has(slot)) continue;
        position[k] = is_full ? item : position_at(from, slot, turns);
        if (!are_own && !tile.has(position[k])) continue;
        const S* const entry = payloads + slot * of.components;
        term[k] = is_a ? of.of_a(entry, c) : of.of_b(entry, c);
      }
      Target to_put[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        if (!tile.has(position[k])) continue;
        const int at = base + 32 * k, c = at - item_of(at) * of.components;
        to_put[k] = target(position[k], c, is_a, behind_b);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        if (tile.has(position[k])) put(to_put[k], term[k], is_a);
      }
    }
    __syncwarp();
  }
};

template <class S>
__device__ void write_tile(const SumToWrite<S>& of, int number, TileRoom& room) {
  const Tile listed = of.listed.tiles[number];
  const TileOfWarp tile(listed, of.pairs.shape);
  const LeafToWrite<S> to(of, listed.leaf);
  const NodeView a = leaf_of_a(of.pairs, listed.leaf), b = leaf_of_b(of.pairs, listed.leaf);
  if (listed.number == 0) to.put_count_and_padding(tile.lane, 32);
  TileToWrite<S> write{
      of, to, tile, room, a, b, slots_in(a, false, tile), slots_in(b, of.pairs.turns_b, tile)};
  clear_bits(tile, room.of_a);
  mark_tile(a, false, tile, write.slots_of_a, room.of_a);
  copy_bits(tile, room.of_a, room.bits);
  mark_tile(b, of.pairs.turns_b, tile, write.slots_of_b, room.bits);
  if (to.kind == NodeKind::dense) {
    unsigned* const bits = to.bits() + tile.begin / PlaceBits::bits_of_word;
    for (int word = tile.lane; word < tile.words(); word += 32) bits[word] = room.bits[word];
    write.put_dense();
    if (!is_dense(a)) write.put_entries(a, true);
    if (!is_dense(b)) write.put_entries(b, false);
    return;
  }
  number_bits(tile, room.bits, room.before);
  for (int k = tile.lane; k < listed.number; k += 32) {
    write.first += of.listed.held[number - listed.number + k];
  }
  write.first = sum_of_warp(write.first);
  write.put_entries(a, true);
  write.put_entries(b, false);
}

/// A warp takes a tile or a small pair.
template <class S>
__global__ void __launch_bounds__(block_size, 4)
    write_listed(const __grid_constant__ SumToWrite<S> of) {
  __shared__ TileRoom room[warps_of_block];
  const auto warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const Offset item = Offset(blockIdx.x) * warps_of_block + warp;
  if (item < of.tiles) {
    write_tile(of, static_cast<int>(item), room[warp]);
  } else if (item - of.tiles < of.small) {
    write_small(of, of.listed.small[item - of.tiles], lane);
  }
}

template <class S>
void write_words(const CountedPairs& pairs, const EntrySum& sum, const int* adjoint,
                 const LeavesOfSum& leaves, const Device& device) {
  const auto term = [&](const double* factor, const int* components) {
    return EntryTerm<S>{static_cast<S>(factor[0]), static_cast<S>(factor[1]), sum.is_complex,
                        components};
  };
  const CountedSum& counted = pairs.counted();
  const SumToWrite<S> of{pairs.pairs(),
                         pairs.listed(),
                         counted.small,
                         counted.tiles,
                         leaves.held,
                         leaves.byte,
                         leaves.pool,
                         sum.components,
                         term(sum.alpha, nullptr),
                         term(sum.beta, adjoint)};
  const Stream& stream = device.stream();
  const Offset items = Offset(counted.tiles) + counted.small;
  if (items > 0) {
    const OnGpu here(stream);
    launch_kernel(write_listed<S>,
                  static_cast<unsigned>((items + warps_of_block - 1) / warps_of_block), block_size,
                  false, stream, of);
  }
  if (counted.has_single == 0) return;
  for_each_index(stream, counted.leaves,
                 [of] __device__(Offset leaf) { write_by_thread(of, leaf); });
}

}  // namespace

void write_pairs(const CountedPairs& pairs, const EntrySum& sum, const int* adjoint,
                 const LeavesOfSum& leaves, const Device& device) {
  if (sum.scalar_bytes == int{sizeof(float)}) {
    write_words<float>(pairs, sum, adjoint, leaves, device);
  } else {
    write_words<double>(pairs, sum, adjoint, leaves, device);
  }
}

}  // namespace heddle::cuda
