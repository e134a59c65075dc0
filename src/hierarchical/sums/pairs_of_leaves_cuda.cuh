// The leaves of two trees that make a leaf of their sum, and how threads find which entries meet.
#pragma once

#include "counted_pairs_cuda.hpp"

namespace heddle::cuda {

/// The leaves that make a leaf of the sum.
__device__ inline NodeView view_of(const PairsOfLeaves& pairs,
                                   const heddle::device::TreeLeaf* leaves, Index i) {
  if (i < 0) return {nullptr, NodeKind::coo1, pairs.shape};
  return {reinterpret_cast<const unsigned char*>(leaves[i].address()), leaves[i].kind(),
          pairs.shape};
}
__device__ inline NodeView leaf_of_a(const PairsOfLeaves& pairs, Offset leaf) {
  return view_of(pairs, pairs.a, pairs.of_a[leaf]);
}
__device__ inline NodeView leaf_of_b(const PairsOfLeaves& pairs, Offset leaf) {
  return view_of(pairs, pairs.b, pairs.of_b[leaf]);
}

__device__ inline int count_of(const NodeView& leaf) {
  return leaf.data == nullptr ? 0 : leaf.count();
}
__device__ inline bool is_dense(const NodeView& leaf) {
  return leaf.data != nullptr && leaf.kind == NodeKind::dense;
}
/// The position for coordinates as a leaf stores them, the row in the lowest byte; bits above both
/// are ignored.
__device__ inline int position_of(unsigned place, const NodeShape& shape, bool transposes) {
  const int row = static_cast<int>(place & 0xffU), column = static_cast<int>(place >> 8 & 0xffU);
  return transposes ? column << shape.log2_size | row : row << shape.log2_size | column;
}
/// Where an entry of a sparse leaf lies; both coordinates are one load.
__device__ inline int position_at(const NodeView& leaf, int slot, bool transposes) {
  return position_of(reinterpret_cast<const unsigned short*>(leaf.places())[slot], leaf.shape,
                     transposes);
}
/// The position with row and column exchanged.
__device__ inline int transposed(const NodeShape& shape, int position) {
  const LocalPlace place = shape.place_at(position);
  return shape.position_of({place.column, place.row});
}

__device__ inline bool holds_few(const NodeView& a, const NodeView& b, int most) {
  return !is_dense(a) && !is_dense(b) && count_of(a) + count_of(b) <= most;
}
/// A warp merges leaves with few entries, one lane each.
__device__ inline bool fits_in_warp(const NodeView& a, const NodeView& b) {
  return holds_few(a, b, entries_of_warp);
}
/// A thread merges leaves with very few.
inline constexpr int entries_of_thread = 8;
__device__ inline bool fits_in_thread(const NodeView& a, const NodeView& b) {
  return holds_few(a, b, entries_of_thread);
}

/// The lanes' data on the entries of a pair: those of a come first.
struct LanePair {
  int position;
  int partner = -1;      // the lane of the entry of the other leaf in this place
  unsigned smaller = 0;  // lanes of earlier places
  unsigned repeats = 0;  // lanes of b whose place a also has

  __device__ LanePair(const NodeView& a, const NodeView& b, bool transposes_b, int lane) {
    const int in_a = count_of(a), all = in_a + count_of(b);
    position = lane < in_a  ? position_at(a, lane, false)
               : lane < all ? position_at(b, lane - in_a, transposes_b)
                            : -1 - lane;
    for (int k = 0; k < all; ++k) {
      const int other = __shfl_sync(~0U, position, k);
      if (other < position) smaller |= 1U << k;
      if (other == position && k != lane) partner = k;
    }
    repeats = __ballot_sync(~0U, lane >= in_a && lane < all && partner >= 0);
  }
};

/// A thread's data on the entries of a pair: those of a come first.
struct ThreadPair {
  static constexpr int beyond = 1 << 30;  // beyond any place

  int in_a, all;
  int position[entries_of_thread];
  unsigned repeats = 0;  // entries of b whose place a also has

  __device__ ThreadPair(const NodeView& a, const NodeView& b, bool transposes_b)
      : in_a(count_of(a)), all(in_a + count_of(b)) {
#pragma unroll
    for (int k = 0; k < entries_of_thread; ++k) {
      position[k] = k < in_a  ? position_at(a, k, false)
                    : k < all ? position_at(b, k - in_a, transposes_b)
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

}  // namespace heddle::cuda
