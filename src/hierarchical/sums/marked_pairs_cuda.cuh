// Pairs of leaves whose places a warp or a block of threads marks as bits in shared memory. The one
// bits number the entries of the sum.
#pragma once

#include "hierarchical/pools/place_bits.cuh"
#include "pairs_of_leaves_cuda.cuh"

namespace heddle::cuda {

inline constexpr unsigned all_threads = ~0U;
inline constexpr int warps_of_block = block_size / 32;
/// Words of bits of a pair that a warp takes. Lanes take four words each, in steps of these.
inline constexpr int max_words_of_warp = 512;
inline constexpr int words_of_step = 128;

/// A warp takes two sparse leaves with so few entries that their sum is sparse too; a block of
/// threads takes others.
__device__ inline bool suits_warp(const NodeView& a, const NodeView& b, const NodeShape& shape) {
  constexpr int max_entries = 512;
  return holds_few(a, b, max_entries) &&
         PlaceBits::words_of(shape.positions()) <= max_words_of_warp &&
         shape.kind_of(count_of(a) + count_of(b)) != NodeKind::dense;
}

/// Waits for the other threads of a warp, or of a block of threads.
template <int threads>
__device__ void wait_for_team() {
  if constexpr (threads == 32) {
    __syncwarp();
  } else {
    __syncthreads();
  }
}

/// A leaf of a pair.
struct LeafOfPair {
  NodeView leaf;
  int count;  // entries
  bool transposes;

  __device__ LeafOfPair(const NodeView& view, bool transposes)
      : leaf(view), count(count_of(view)), transposes(transposes) {}
  __device__ bool is_full() const { return is_dense(leaf); }
  __device__ bool is_sparse() const { return leaf.data != nullptr && !is_full(); }
  /// True if its entries come by columns, so that the one bits before them do not number them.
  __device__ bool is_mixed() const { return transposes && is_sparse(); }
};

/// Clears words of bits up to the end of a step.
template <int threads>
__device__ void clear_bits(unsigned* bits, int words, int thread) {
  for (int word = 4 * thread; word < words; word += 4 * threads) {
    *reinterpret_cast<uint4*>(bits + word) = {0, 0, 0, 0};
  }
}

__device__ inline void mark_place(int position, unsigned* bits) {
  atomicOr(bits + position / PlaceBits::bits_of_word, PlaceBits::bit_of(position));
}
/// Marks four places that follow one another, or fewer. In full rows they share a word.
__device__ inline void mark_four(const uint2& places, int count, const NodeShape& shape,
                                 bool transposes, unsigned* bits) {
  const int position[4] = {
      position_of(places.x, shape, transposes), position_of(places.x >> 16, shape, transposes),
      position_of(places.y, shape, transposes), position_of(places.y >> 16, shape, transposes)};
  const int word = position[0] / PlaceBits::bits_of_word;
  if (count >= 4 && !transposes && word == position[3] / PlaceBits::bits_of_word) {
    atomicOr(bits + word, PlaceBits::bit_of(position[0]) | PlaceBits::bit_of(position[1]) |
                              PlaceBits::bit_of(position[2]) | PlaceBits::bit_of(position[3]));
    return;
  }
#pragma unroll
  for (int k = 0; k < 4; ++k) {
    if (k < count) mark_place(position[k], bits);
  }
}

/// Sets the bits of the places of a leaf.
template <int threads>
__device__ void mark_leaf(const LeafOfPair& of, unsigned* bits, int thread) {
  const NodeView& leaf = of.leaf;
  if (leaf.data == nullptr) return;
  if (of.is_full()) {
    const auto positions = static_cast<int>(leaf.shape.positions());
    const int words = PlaceBits::words_of(positions);
    const auto* const own = reinterpret_cast<const unsigned*>(leaf.places());
    if (!of.transposes) {
      for (int word = thread; word < words; word += threads) atomicOr(bits + word, own[word]);
      return;
    }
    for (int word = thread / 32; word < words; word += threads / 32) {
      const int position = word * PlaceBits::bits_of_word + thread % 32;
      const bool is_there = position < positions && leaf.has(transposed(leaf.shape, position));
      const unsigned there = __ballot_sync(all_threads, is_there);
      if (thread % 32 == 0) atomicOr(bits + word, there);
    }
    return;
  }
  if (leaf.kind != NodeKind::coo4) {
    if (thread < of.count) mark_place(position_at(leaf, thread, of.transposes), bits);
    return;
  }
  // Coordinates are padded to four.
  constexpr int at_once = 2;
  const auto* const places = reinterpret_cast<const uint2*>(leaf.places());
  for (int base = thread; 4 * base < of.count; base += threads * at_once) {
    uint2 loaded[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const int four = base + k * threads;
      loaded[k] = 4 * four < of.count ? places[four] : uint2{0, 0};
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      mark_four(loaded[k], of.count - 4 * (base + k * threads), leaf.shape, of.transposes, bits);
    }
  }
}

/// The sum over the lanes of a warp, given to all of them.
__device__ inline int sum_of_warp(int value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(all_threads, value, step);
  return value;
}

__device__ inline int ones_of_word(const uint4& word) {
  return __popc(word.x) + __popc(word.y) + __popc(word.z) + __popc(word.w);
}
/// The one bits in a thread's words.
template <int threads>
__device__ int count_bits(const unsigned* bits, int words, int thread) {
  int ones = 0;
  for (int word = 4 * thread; word < words; word += 4 * threads) {
    ones += ones_of_word(*reinterpret_cast<const uint4*>(bits + word));
  }
  return ones;
}

/// A warp's data on a pair: bits of both leaves, and how many of either are set in earlier words.
struct alignas(16) WorkspaceOfWarp {
  unsigned of_a[max_words_of_warp];
  unsigned of_b[max_words_of_warp];
  unsigned short before[max_words_of_warp];

  /// All lanes take part.
  __device__ void number(int words, int lane) {
    int all = 0;
    for (int base = 0; base < words; base += words_of_step) {
      const int word = base + 4 * lane;
      const uint4 a = *reinterpret_cast<const uint4*>(of_a + word),
                  b = *reinterpret_cast<const uint4*>(of_b + word);
      const uint4 here{a.x | b.x, a.y | b.y, a.z | b.z, a.w | b.w};
      const int own = ones_of_word(here);
      int sum = own;
      for (int step = 1; step < 32; step *= 2) {
        const int other = __shfl_up_sync(all_threads, sum, step);
        if (lane >= step) sum += other;
      }
      const int first = all + sum - own, second = first + __popc(here.x),
                third = second + __popc(here.y), fourth = third + __popc(here.z);
      *reinterpret_cast<ushort4*>(before + word) = {
          static_cast<unsigned short>(first), static_cast<unsigned short>(second),
          static_cast<unsigned short>(third), static_cast<unsigned short>(fourth)};
      all += __shfl_sync(all_threads, sum, 31);
    }
    __syncwarp();
  }
};

/// A block of threads' data on a pair: also how many bits of each leaf are before a word.
struct alignas(16) WorkspaceOfBlock {
  unsigned of_a[PlaceBits::max_words];
  unsigned of_b[PlaceBits::max_words];
  unsigned short before[PlaceBits::max_words];
  unsigned short before_a[PlaceBits::max_words];
  unsigned short before_b[PlaceBits::max_words];
  unsigned long long of_warp[warps_of_block];

  /// All threads take part.
  __device__ void number(int words, int thread) {
    constexpr int bits_of_count = 20;
    constexpr unsigned most = (1U << bits_of_count) - 1;
    const auto ones = [&](int word) {
      const unsigned a = of_a[word], b = of_b[word];
      return static_cast<unsigned long long>(__popc(a | b)) << 2 * bits_of_count |
             static_cast<unsigned long long>(__popc(a)) << bits_of_count |
             static_cast<unsigned long long>(__popc(b));
    };
    const int each = (words + block_size - 1) / block_size;
    const int first = min(words, thread * each), end = min(words, first + each);
    unsigned long long own = 0;
    for (int word = first; word < end; ++word) own += ones(word);
    unsigned long long sum = sum_before(own, static_cast<unsigned>(thread), of_warp);
    for (int word = first; word < end; ++word) {
      before[word] = static_cast<unsigned short>(sum >> 2 * bits_of_count);
      before_a[word] = static_cast<unsigned short>(sum >> bits_of_count & most);
      before_b[word] = static_cast<unsigned short>(sum & most);
      sum += ones(word);
    }
    __syncthreads();
  }
};

}  // namespace heddle::cuda
