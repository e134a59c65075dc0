// Tiles of the leaves of a sum: a warp marks the places of both leaves there as bits, whose ones
// number the entries.
#pragma once

#include "pairs_of_leaves_cuda.cuh"
#include "place_bits.cuh"

namespace heddle::cuda {

inline constexpr unsigned all_threads = ~0U;
inline constexpr int warps_of_block = block_size / 32;
inline constexpr int most_words_of_tile = 512;
/// Lanes take four words each, so that words are cleared and numbered in such steps.
inline constexpr int words_of_step = 128;

/// So many tiles that each has some 256 slots, and a word of bits for each lane at least.
__device__ inline int tiles_of(const NodeView& a, const NodeView& b, const NodeShape& shape) {
  constexpr int slots_of_tile = 256;
  const int words = PlaceBits::words_of(shape.positions());
  const int most = min((slots_of(a) + slots_of(b)) / slots_of_tile, words / 32);
  int tiles = max(1, words / most_words_of_tile);
  while (2 * tiles <= most) tiles *= 2;
  return tiles;
}

/// The places [begin, end) of a leaf, as a warp takes them.
struct TileOfWarp {
  int lane;
  int begin, end;

  __device__ TileOfWarp(const Tile& tile, const NodeShape& shape)
      : lane(static_cast<int>(threadIdx.x % 32)) {
    const int size = static_cast<int>(shape.positions()) / tile.of;
    begin = tile.number * size;
    end = begin + size;
  }
  __device__ int words() const { return PlaceBits::words_of(end - begin); }
  __device__ int words_in_steps() const {
    return (words() + words_of_step - 1) / words_of_step * words_of_step;
  }
  __device__ bool has(int position) const { return position >= begin && position < end; }
  /// Where k is in the order in which a dense leaf is read that is turned: 32 columns of all rows
  /// of the tile come first, so that a lane reads what lies side by side.
  __device__ int position_in_turn(const NodeShape& shape, int k) const {
    if (shape.size() < 32) return begin + k;
    const int step = k / 32, log2_rows = 31 - __clz((end - begin) >> shape.log2_size);
    const int row = step & ((1 << log2_rows) - 1), column = (step >> log2_rows) * 32 + k % 32;
    return begin + (row << shape.log2_size | column);
  }
};

/// Words of a tile's bits; all lanes take part in what follows.
__device__ inline void clear_bits(const TileOfWarp& tile, unsigned* bits) {
  for (int word = 4 * tile.lane; word < tile.words_in_steps(); word += words_of_step) {
    *reinterpret_cast<uint4*>(bits + word) = {0, 0, 0, 0};
  }
  __syncwarp();
}
__device__ inline void copy_bits(const TileOfWarp& tile, const unsigned* from, unsigned* to) {
  for (int word = 4 * tile.lane; word < tile.words_in_steps(); word += words_of_step) {
    *reinterpret_cast<uint4*>(to + word) = *reinterpret_cast<const uint4*>(from + word);
  }
  __syncwarp();
}

/// Whether a warp looks for a tile's entries in each row of a leaf. Of few tiles each has so many
/// of the entries that to read them all costs less.
__device__ inline bool looks_in_rows(const NodeView& leaf, bool turns, const TileOfWarp& tile) {
  constexpr int few_tiles = 8;
  return turns && leaf.data != nullptr && leaf.kind != NodeKind::dense &&
         few_tiles * (tile.end - tile.begin) <= leaf.shape.positions();
}
/// Calls `body(slot, position)` with the entries of a sparse leaf that lie in a tile once they are
/// turned: the tile's rows are the leaf's columns, and a lane takes a row of the leaf. So a tile
/// reads its own entries, and log2(entries) places for each row.
template <class Body>
__device__ void for_each_turned(const NodeView& leaf, const TileOfWarp& tile, const Body& body) {
  const NodeShape& shape = leaf.shape;
  const int first = tile.begin >> shape.log2_size, last = tile.end >> shape.log2_size;
  const int count = leaf.count();
  int slot = 0;
  for (int row = tile.lane; row < shape.size(); row += 32) {
    const int begin = (row << shape.log2_size) + first, end = begin - first + last;
    for (int beyond = count; slot < beyond;) {
      const int middle = (slot + beyond) / 2;
      if (position_at(leaf, middle, false) < begin) {
        slot = middle + 1;
      } else {
        beyond = middle;
      }
    }
    for (; slot < count; ++slot) {
      const int position = position_at(leaf, slot, false);
      if (position >= end) break;
      body(slot, turned(shape, position));
    }
  }
  __syncwarp();
}

struct Slots {
  int begin, end;
};
/// The entries of a sparse leaf between two places: half of the lanes look for each end.
__device__ inline Slots slots_between(const NodeView& leaf, int first, int last, int lane) {
  constexpr int lanes = 16;
  const int position = lane < lanes ? first : last;
  int begin = 0, end = leaf.count();
  while (__any_sync(all_threads, begin < end)) {
    const int step = (end - begin + lanes - 1) / lanes, slot = begin + lane % lanes * step;
    const bool is_before = slot < end && position_at(leaf, slot, false) < position;
    const unsigned before_all = __ballot_sync(all_threads, is_before);
    const int before = __popc(before_all >> (lane / lanes * lanes) & 0xffffU);
    end = before == 0 ? begin : min(end, begin + before * step);
    if (before > 0) begin += (before - 1) * step + 1;
  }
  return {__shfl_sync(all_threads, begin, 0), __shfl_sync(all_threads, begin, lanes)};
}
/// The slots of a leaf that may lie in a tile: all entries of a turned one, which come by columns.
__device__ inline Slots slots_in(const NodeView& leaf, bool turns, const TileOfWarp& tile) {
  if (leaf.data == nullptr) return {0, 0};
  if (leaf.kind == NodeKind::dense) return {tile.begin, tile.end};
  const int count = leaf.count();
  if (turns || tile.end - tile.begin == leaf.shape.positions()) return {0, count};
  return slots_between(leaf, tile.begin, tile.end, tile.lane);
}

__device__ inline void mark_place(const TileOfWarp& tile, int position, unsigned* bits) {
  const int local = position - tile.begin;
  atomicOr(bits + local / PlaceBits::bits_of_word, PlaceBits::bit_of(local));
}
/// Sets the bits of a leaf's places in a tile, whose `slots_in` are known.
__device__ inline void mark_tile(const NodeView& leaf, bool turns, const TileOfWarp& tile,
                                 const Slots& slots, unsigned* bits) {
  if (is_dense(leaf)) {
    const auto* const own =
        reinterpret_cast<const unsigned*>(leaf.places()) + tile.begin / PlaceBits::bits_of_word;
    for (int word = turns ? 0 : tile.lane; word < tile.words(); word += turns ? 1 : 32) {
      if (!turns) {
        bits[word] |= own[word];
        continue;
      }
      const int k = word * PlaceBits::bits_of_word + tile.lane;
      const int position = tile.position_in_turn(leaf.shape, k);
      const bool is_there = position < tile.end && leaf.has(turned(leaf.shape, position));
      const unsigned there = __ballot_sync(all_threads, is_there);
      if (tile.lane == 0) bits[(position - tile.begin) / PlaceBits::bits_of_word] |= there;
    }
    __syncwarp();
    return;
  }
  if (looks_in_rows(leaf, turns, tile)) {
    for_each_turned(leaf, tile, [&](int, int position) { mark_place(tile, position, bits); });
    return;
  }
  constexpr int at_once = 4;
  for (int base = slots.begin + tile.lane; base < slots.end; base += 32 * at_once) {
    int position[at_once];
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      const int slot = base + 32 * k;
      position[k] = slot < slots.end ? position_at(leaf, slot, turns) : -1;
    }
#pragma unroll
    for (int k = 0; k < at_once; ++k) {
      if (tile.has(position[k])) mark_place(tile, position[k], bits);
    }
  }
  __syncwarp();
}

/// A sum over the lanes of a warp, for all of them.
__device__ inline int sum_of_warp(int value) {
  for (int step = 16; step > 0; step /= 2) value += __shfl_xor_sync(all_threads, value, step);
  return value;
}

__device__ inline int ones_of_word(const uint4& word) {
  return __popc(word.x) + __popc(word.y) + __popc(word.z) + __popc(word.w);
}
__device__ inline int count_bits(const TileOfWarp& tile, const unsigned* bits) {
  int ones = 0;
  for (int word = 4 * tile.lane; word < tile.words_in_steps(); word += words_of_step) {
    ones += ones_of_word(*reinterpret_cast<const uint4*>(bits + word));
  }
  return sum_of_warp(ones);
}

/// Fills in how many bits are set in earlier words.
__device__ inline void number_bits(const TileOfWarp& tile, const unsigned* bits,
                                   unsigned short* before) {
  int all = 0;
  for (int base = 0; base < tile.words_in_steps(); base += words_of_step) {
    const int word = base + 4 * tile.lane;
    const uint4 here = *reinterpret_cast<const uint4*>(bits + word);
    const int own = ones_of_word(here);
    int sum = own;
    for (int step = 1; step < 32; step *= 2) {
      const int other = __shfl_up_sync(all_threads, sum, step);
      if (tile.lane >= step) sum += other;
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

}  // namespace heddle::cuda
