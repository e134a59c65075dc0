// The leaves of a sum: a thread, a warp or a block of threads merges each pair of leaves by the
// ranks of its places.
#include <algorithm>
#include <limits>

#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "hierarchical/pools/side_by_side_cuda.cuh"
#include "leaf_to_write_cuda.cuh"
#include "marked_pairs_cuda.cuh"

namespace heddle::cuda {

namespace {

template <class S>
__device__ void write_by_thread(const SumToWrite<S>& of, Offset leaf) {
  const NodeView a = leaf_of_a(of.pairs, leaf), b = leaf_of_b(of.pairs, leaf);
  if (!fits_in_thread(a, b)) return;
  const ThreadPair pair(a, b, of.pairs.transposes_b);
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
  const LanePair pair(a, b, of.pairs.transposes_b, lane);
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

/// A pair whose bits a warp or a block of threads knows, and the leaf that is their sum.
template <class S, class Workspace, int threads>
struct PairToWrite {
  const SumToWrite<S>& of;
  const LeafToWrite<S>& to;
  const Workspace& workspace;
  LeafOfPair a, b;
  int thread;

  static constexpr int at_once = 4;

  __device__ bool is_dense_sum() const { return to.kind == NodeKind::dense; }
  __device__ const S* payloads_of(const LeafOfPair& from) const {
    return reinterpret_cast<const S*>(from.leaf.data +
                                      of.pairs.shape.payload_byte(from.leaf.kind, from.count));
  }
  /// Number of entries of the sum before a place.
  __device__ int rank_of(int position) const {
    if (is_dense_sum()) return position;
    const int word = position / PlaceBits::bits_of_word;
    const unsigned ones = workspace.of_a[word] | workspace.of_b[word];
    return workspace.before[word] + __popc(ones & (PlaceBits::bit_of(position) - 1));
  }
  /// True if an entry is added to what a has put there.
  __device__ bool adds(int position, bool is_a) const {
    return !is_a && PlaceBits{workspace.of_a, nullptr}.has(position);
  }
  __device__ int item_of(int at) const { return of.components == 1 ? at : at / of.components; }

  /// Writes the entries of a sparse leaf, those of a before those of b.
  template <class IsOwn>
  __device__ void put_entries(const LeafOfPair& from, bool is_a, const IsOwn& is_own) const {
    if (from.leaf.data == nullptr) return;
    const S* const payloads = payloads_of(from);
    const auto* const places = reinterpret_cast<const unsigned short*>(from.leaf.places());
    const bool is_dense_to = is_dense_sum();
    const int end = from.count * of.components;
    for (int base = thread; base < end; base += threads * at_once) {
      S term[at_once];
      int position[at_once];
      unsigned place[at_once];
      // All loads come before the first use of any, so that they wait together.
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int at = base + threads * k, slot = item_of(at);
        const bool is_there = at < end;
        const int first = is_a ? of.of_a.source(at - slot * of.components).at
                               : of.of_b.source(at - slot * of.components).at;
        place[k] = is_there ? places[slot] : 0;
        term[k] = is_there ? payloads[Offset(slot) * of.components + first] : S(0);
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int at = base + threads * k, slot = item_of(at), c = at - slot * of.components;
        if (at >= end) break;
        const S* const entry = payloads + Offset(slot) * of.components;
        position[k] = position_of(place[k], from.leaf.shape, from.transposes);
        term[k] = is_a ? of.of_a.of_loaded(term[k], of.of_a.source(c), entry, c)
                       : of.of_b.of_loaded(term[k], of.of_b.source(c), entry, c);
      }
      S* payload[at_once];
      S other[at_once];
      bool is_second[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        const int at = base + threads * k, c = at - item_of(at) * of.components;
        if (at >= end) break;
        if (!is_own(position[k])) continue;
        const int rank = rank_of(position[k]);
        payload[k] = to.payloads + Offset(rank) * of.components + c;
        is_second[k] = adds(position[k], is_a);
        if (is_second[k]) {
          other[k] = *payload[k];
        } else if (c == 0 && !is_dense_to) {
          to.put_place(rank, position[k]);
        }
      }
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        if (base + threads * k >= end) break;
        if (!is_own(position[k])) continue;
        *payload[k] = is_second[k] ? rounded_sum(other[k], term[k]) : term[k];
      }
    }
    wait_for_team<threads>();
  }
  __device__ void put_entries(const LeafOfPair& from, bool is_a) const {
    put_entries(from, is_a, [](int) { return true; });
  }
};

/// The additional work of a block of threads.
template <class S>
struct LargePair : PairToWrite<S, WorkspaceOfBlock, block_size> {
  using PairToWrite<S, WorkspaceOfBlock, block_size>::at_once;
  using PairToWrite<S, WorkspaceOfBlock, block_size>::workspace;
  using PairToWrite<S, WorkspaceOfBlock, block_size>::to;

  /// True if going by places costs less than going by entries.
  __device__ bool has_many() const {
    constexpr int places_of_entry = 4;
    return this->is_dense_sum() || this->a.is_full() || this->b.is_full() ||
           (!this->b.is_mixed() &&
            places_of_entry * (this->a.count + this->b.count) >= to.of.pairs.shape.positions());
  }
  /// A leaf's slots in a word of places, one lane each: the slot of the place's entry, or -1.
  __device__ static int slot_in_word(const LeafOfPair& from, unsigned ones, int position,
                                     int before) {
    const unsigned bit = PlaceBits::bit_of(position);
    if ((ones & bit) == 0) return -1;
    if (!from.is_full()) return before + __popc(ones & (bit - 1));
    return from.transposes ? transposed(from.leaf.shape, position) : position;
  }
  /// Writes the sums in all places between two words, or in those that have one. Entries of a mixed
  /// b are added later.
  __device__ void put_places(int first, int words) const {
    const auto& of = this->of;
    const S *const of_a = this->payloads_of(this->a), *const of_b = this->payloads_of(this->b);
    const bool is_dense_to = this->is_dense_sum(), skips_b = this->b.is_mixed();
    const auto positions = static_cast<int>(of.pairs.shape.positions());
    const int lane = this->thread % 32;
    for (int base = first + this->thread / 32 * at_once; base < words;
         base += warps_of_block * at_once) {
      int rank[at_once], slot_a[at_once], slot_b[at_once];
#pragma unroll
      for (int k = 0; k < at_once; ++k) {
        rank[k] = slot_a[k] = slot_b[k] = -1;
        const int word = base + k, position = word * PlaceBits::bits_of_word + lane;
        if (word >= words || position >= positions) continue;
        const unsigned ones_a = workspace.of_a[word], ones_b = workspace.of_b[word],
                       ones = ones_a | ones_b;
        const unsigned bit = PlaceBits::bit_of(position);
        if (is_dense_to) {
          rank[k] = position;
        } else if ((ones & bit) != 0) {
          rank[k] = workspace.before[word] + __popc(ones & (bit - 1));
        }
        slot_a[k] = slot_in_word(this->a, ones_a, position, workspace.before_a[word]);
        if (!skips_b) slot_b[k] = slot_in_word(this->b, ones_b, position, workspace.before_b[word]);
      }
      for (int c = 0; c < of.components; ++c) {
        const auto from_a = of.of_a.source(c), from_b = of.of_b.source(c);
        S value_a[at_once], value_b[at_once];
        // All loads come before the first use of any, so that they wait together.
#pragma unroll
        for (int k = 0; k < at_once; ++k) {
          value_a[k] = slot_a[k] < 0 ? S(0) : of_a[Offset(slot_a[k]) * of.components + from_a.at];
          value_b[k] = slot_b[k] < 0 ? S(0) : of_b[Offset(slot_b[k]) * of.components + from_b.at];
        }
#pragma unroll
        for (int k = 0; k < at_once; ++k) {
          if (rank[k] < 0) continue;
          S sum = 0;
          if (slot_a[k] >= 0) {
            sum =
                of.of_a.of_loaded(value_a[k], from_a, of_a + Offset(slot_a[k]) * of.components, c);
          }
          if (slot_b[k] >= 0) {
            const S term =
                of.of_b.of_loaded(value_b[k], from_b, of_b + Offset(slot_b[k]) * of.components, c);
            sum = slot_a[k] < 0 ? term : rounded_sum(sum, term);
          }
          to.payloads[Offset(rank[k]) * of.components + c] = sum;
          if (c > 0 || is_dense_to) continue;
          to.put_place(rank[k], (base + k) * PlaceBits::bits_of_word + lane);
        }
      }
    }
    __syncthreads();
  }
};

/// Marks the bits of both leaves; all threads of the team take part.
template <int threads, class Workspace>
__device__ void mark_pair(Workspace& workspace, const LeafOfPair& a, const LeafOfPair& b, int words,
                          int thread) {
  clear_bits<threads>(workspace.of_a, words, thread);
  clear_bits<threads>(workspace.of_b, words, thread);
  wait_for_team<threads>();
  mark_leaf<threads>(a, workspace.of_a, thread);
  mark_leaf<threads>(b, workspace.of_b, thread);
  wait_for_team<threads>();
  workspace.number(words, thread);
}

__device__ inline int words_of(const NodeShape& shape) {
  return max(words_of_step, PlaceBits::words_of(shape.positions()));
}

template <class S>
__device__ void write_medium(const SumToWrite<S>& of, Offset leaf, WorkspaceOfWarp& workspace,
                             int lane) {
  const LeafToWrite<S> to(of, leaf);
  const LeafOfPair a(leaf_of_a(of.pairs, leaf), false);
  const LeafOfPair b(leaf_of_b(of.pairs, leaf), of.pairs.transposes_b);
  to.put_count_and_padding(lane, 32);
  mark_pair<32>(workspace, a, b, words_of(of.pairs.shape), lane);
  const PairToWrite<S, WorkspaceOfWarp, 32> write{of, to, workspace, a, b, lane};
  write.put_entries(a, true);
  write.put_entries(b, false);
}

/// Writes a part of a large pair that goes by places; the first part does all of any other pair.
template <class S>
__device__ void write_large(const SumToWrite<S>& of, Offset leaf, int part,
                            WorkspaceOfBlock& workspace) {
  const auto thread = static_cast<int>(threadIdx.x);
  const LeafToWrite<S> to(of, leaf);
  const LeafOfPair a(leaf_of_a(of.pairs, leaf), false);
  const LeafOfPair b(leaf_of_b(of.pairs, leaf), of.pairs.transposes_b);
  const LargePair<S> write{{of, to, workspace, a, b, thread}};
  const bool has_many = write.has_many();
  if (part > 0 && !has_many) return;
  if (part == 0) to.put_count_and_padding(thread, block_size);
  mark_pair<block_size>(workspace, a, b, words_of(of.pairs.shape), thread);
  if (!has_many) {
    write.put_entries(a, true);
    write.put_entries(b, false);
    return;
  }
  const int words = PlaceBits::words_of(of.pairs.shape.positions());
  const int each = (words + of.parts - 1) / of.parts;
  const int first = min(words, part * each), end = min(words, first + each);
  if (to.kind == NodeKind::dense) {
    for (int word = first + thread; word < end; word += block_size) {
      to.bits()[word] = workspace.of_a[word] | workspace.of_b[word];
    }
  }
  write.put_places(first, end);
  if (!b.is_mixed()) return;
  write.put_entries(b, false, [&](int position) {
    const int word = position / PlaceBits::bits_of_word;
    return word >= first && word < end;
  });
}

union WorkspaceToWrite {
  WorkspaceOfBlock of_block;
  WorkspaceOfWarp of_warp[warps_of_block];
};

/// One or more blocks of threads take a large pair. After these, each warp of a block takes a pair,
/// and then each thread a leaf.
template <class S>
__global__ void __launch_bounds__(block_size, 4)
    write_pair(const __grid_constant__ SumToWrite<S> of) {
  __shared__ alignas(16) unsigned char memory[sizeof(WorkspaceToWrite)];
  auto& workspace = *reinterpret_cast<WorkspaceToWrite*>(memory);
  const unsigned of_large = static_cast<unsigned>(of.large) * static_cast<unsigned>(of.parts);
  if (blockIdx.x < of_large) {
    return write_large(of, of.listed.large[blockIdx.x / static_cast<unsigned>(of.parts)],
                       static_cast<int>(blockIdx.x % static_cast<unsigned>(of.parts)),
                       workspace.of_block);
  }
  const unsigned block = blockIdx.x - of_large;
  if (block >= of.blocks_of_warps()) {
    const Offset leaf = Offset(block - of.blocks_of_warps()) * block_size + threadIdx.x;
    if (leaf < of.single) write_by_thread(of, leaf);
    return;
  }
  const auto warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const int item = static_cast<int>(block) * warps_of_block + warp;
  if (item < of.medium) {
    write_medium(of, of.listed.medium[item], workspace.of_warp[warp], lane);
  } else if (item - of.medium < of.small) {
    write_small(of, of.listed.small[item - of.medium], lane);
  }
}

/// Parts of each large pair, as far as all of them find room. More parts than run side by side cost
/// more than they gain, as each marks the whole pair.
int parts_of(int large, const Stream& stream) {
  constexpr int most = 4;
  const auto resident =
      static_cast<int>(blocks_side_by_side(std::numeric_limits<Offset>::max() / 2, stream));
  return std::clamp(resident / std::max(large, 1), 1, most);
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
                         counted.medium,
                         counted.large,
                         parts_of(counted.large, device.stream()),
                         counted.has_single != 0 ? counted.leaves : 0,
                         leaves.held,
                         leaves.byte,
                         leaves.pool,
                         sum.components,
                         term(sum.alpha, nullptr),
                         term(sum.beta, adjoint)};
  const Offset blocks = Offset(of.large) * of.parts + of.blocks_of_warps() +
                        (of.single + block_size - 1) / block_size;
  if (blocks == 0) return;
  const OnGpu here(device.stream());
  launch_kernel(write_pair<S>, static_cast<unsigned>(blocks), block_size, false, device.stream(),
                of);
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
