// The leaves of a sum as threads write them.
#pragma once

#include "counted_pairs_cuda.hpp"
#include "hierarchical/entry_terms.hpp"
#include "hierarchical/pools/node_padding.cuh"
#include "marked_pairs_cuda.cuh"

namespace heddle::cuda {

/// The arguments for writing the leaves of a sum.
template <class S>
struct SumToWrite {
  PairsOfLeaves pairs;
  ListedPairs listed;
  int small, medium, large;
  int parts;      // for a large pair, one block of threads each
  Offset single;  // leaves among which a thread looks for pairs that it merges
  const int* held;
  const Offset* byte;
  unsigned char* pool;
  int components;
  EntryTerm<S> of_a, of_b;

  /// Blocks of threads for the pairs that warps take.
  HEDDLE_INLINE unsigned blocks_of_warps() const {
    return (static_cast<unsigned>(medium) + static_cast<unsigned>(small) + warps_of_block - 1) /
           warps_of_block;
  }
  __device__ const S* payload(const NodeView& leaf, int slot) const {
    return reinterpret_cast<const S*>(leaf.payloads()) + Offset(slot) * components;
  }
};

/// A leaf of the sum while it is written.
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

}  // namespace heddle::cuda
