// The leaves of two trees that make a leaf of their sum, and how threads tell which entries meet.
#pragma once

#include "heddle/detail/tree_building_cuda.hpp"
#include "heddle/kernels/tree_arguments.hpp"
#include "tree_levels_cuda.hpp"

namespace heddle::cuda {

/// The leaves of both trees behind the leaves of a sum, by numbers; -1 for none.
struct PairsOfLeaves {
  const heddle::device::TreeLeaf* a;
  const heddle::device::TreeLeaf* b;
  const Index* of_a;
  const Index* of_b;
  NodeShape shape;
  bool turns_b;

  __device__ NodeView view(const heddle::device::TreeLeaf* leaves, Index i) const {
    if (i < 0) return {nullptr, NodeKind::coo1, shape};
    return {reinterpret_cast<const unsigned char*>(leaves[i].address()), leaves[i].kind(), shape};
  }
  __device__ NodeView in_a(Offset leaf) const { return view(a, of_a[leaf]); }
  __device__ NodeView in_b(Offset leaf) const { return view(b, of_b[leaf]); }
};

__device__ inline int count_of(const NodeView& leaf) {
  return leaf.data == nullptr ? 0 : leaf.count();
}
/// Entries of a leaf, or places of a dense one.
__device__ inline int slots_of(const NodeView& leaf) {
  return leaf.data != nullptr && leaf.kind == NodeKind::dense
             ? static_cast<int>(leaf.shape.positions())
             : count_of(leaf);
}
/// Where the entry of a slot lies, or -1 where a dense leaf has none there.
__device__ inline int position_at(const NodeView& leaf, int slot, bool turns) {
  if (leaf.kind == NodeKind::dense && !leaf.has(slot)) return -1;
  LocalPlace place = leaf.kind == NodeKind::dense ? leaf.shape.place_at(slot) : leaf.places()[slot];
  if (turns) place = {place.column, place.row};
  return leaf.shape.position_of(place);
}

__device__ inline bool holds_few(const NodeView& a, const NodeView& b, int most) {
  const auto is_dense = [](const NodeView& leaf) {
    return leaf.data != nullptr && leaf.kind == NodeKind::dense;
  };
  return !is_dense(a) && !is_dense(b) && count_of(a) + count_of(b) <= most;
}
/// A warp merges leaves of few entries, a lane each.
__device__ inline bool fits_in_warp(const NodeView& a, const NodeView& b) {
  return holds_few(a, b, entries_of_warp);
}
/// A thread merges leaves of very few.
inline constexpr int entries_of_thread = 8;
__device__ inline bool fits_in_thread(const NodeView& a, const NodeView& b) {
  return holds_few(a, b, entries_of_thread);
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

/// What a thread knows of the entries of a pair: those of a come first.
struct ThreadPair {
  static constexpr int beyond = 1 << 30;  // of any place

  int in_a, all;
  int position[entries_of_thread];
  unsigned repeats = 0;  // entries of b whose place a has too

  __device__ ThreadPair(const NodeView& a, const NodeView& b, bool turns_b)
      : in_a(count_of(a)), all(in_a + count_of(b)) {
#pragma unroll
    for (int k = 0; k < entries_of_thread; ++k) {
      position[k] = k < in_a  ? position_at(a, k, false)
                    : k < all ? position_at(b, k - in_a, turns_b)
                              : beyond;
    }
#pragma unroll
    for (int k = 0; k < entries_of_thread; ++k) {
      if (k >= in_a && partner(k) >= 0) repeats |= 1U << k;
    }
  }
  /// The entry of the other leaf in the place of this one, or -1.
  __device__ int partner(int k) const {
    int found = -1;
#pragma unroll
    for (int j = 0; j < entries_of_thread; ++j) {
      if (j != k && j < all && position[j] == position[k]) found = j;
    }
    return found;
  }
  __device__ int rank(int k) const {
    unsigned smaller = 0;
#pragma unroll
    for (int j = 0; j < entries_of_thread; ++j) {
      if (position[j] < position[k]) smaller |= 1U << j;
    }
    return __popc(smaller & ~repeats);
  }
};

/// Pairs that threads do not merge alone: those of warps stand at the front of the list, those of
/// blocks of threads at its end.
struct ListedPairs {
  struct Counts {
    int of_warps;
    int of_blocks;
  };
  UnsetArray<Index> list;
  Array<Counts> counts;  // one

  Offset leaves() const { return static_cast<Offset>(list.size()); }
};

/// Counts the entries of the leaves of a sum.
ListedPairs count_pairs(const PairsOfLeaves& pairs, Offset leaves, int* held, const Device& device);

/// Where the leaves of a sum are written: byte[i] behind `pool`, which may be null.
struct LeavesOfSum {
  const int* held;
  const Offset* byte;
  unsigned char* pool;
  bool has_dense;
};
/// Writes all of them, where zeros lie or leaves of as many entries each.
void write_pairs(const PairsOfLeaves& pairs, const ListedPairs& listed, const EntrySum& sum,
                 const LeavesOfSum& leaves, const Device& device);

}  // namespace heddle::cuda
