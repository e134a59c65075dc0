// The product of hierarchical storage as a kernel. A block of threads takes a piece: some leaves of
// one block of y. A warp takes windows of 32 slots of these leaves, a lane each. What lanes hold of
// one row of y is added in a fixed order to the warp's own sums in shared memory. So no number is
// added atomically, and the bits depend on the matrix and the kernel only.
#pragma once

#include "heddle/kernels/product.cuh"
#include "heddle/kernels/tree_arguments.hpp"
#include "heddle/kernels/tree_form.hpp"

namespace heddle::device {

// `Plan` below is a struct of constants that the host writes into the program:
//   entry, scalar (of fields), form, log2_size, warps, epilogue, ring, soa (false).

template <class Plan>
struct OfTree {
  using E = typename Plan::entry;
  using A = detail::applied_entry_t<Plan::form, E>;
  using V = vector_entry_t<A>;
  using R = result_entry_t<A>;
  using T = typename R::scalar;
  static constexpr bool turned = Plan::form != detail::TreeForm::direct;
  static constexpr int size = 1 << Plan::log2_size;
  static constexpr int threads = 32 * Plan::warps;
  static constexpr bool is_small = int(sizeof(R)) <= 8;
  using Arguments = TreeArguments<typename Plan::scalar, T>;
  __device__ static constexpr NodeShape shape() { return {Plan::log2_size, int(sizeof(E))}; }
};

/// A warp's sums of its block of y.
template <class Plan>
struct WarpSums {
  typename OfTree<Plan>::T sums[OfTree<Plan>::R::components * OfTree<Plan>::size];
  unsigned lanes[OfTree<Plan>::is_small ? OfTree<Plan>::size : 1];  // whose entries meet in a row

  __device__ __forceinline__ void clear() {
    constexpr int size = OfTree<Plan>::size, scalars = OfTree<Plan>::R::components * size;
    const int lane = static_cast<int>(threadIdx.x % 32);
    for (int i = lane; i < scalars; i += 32) sums[i] = 0;
    if constexpr (OfTree<Plan>::is_small) {
      for (int i = lane; i < size; i += 32) lanes[i] = 0;
    }
    __syncwarp();
  }
};

/// A leaf as its lane keeps it for the others: places and payloads as if they began at slot 0 of
/// the piece.
struct LeafOfLane {
  unsigned long long places;  // bit 0 tells a dense leaf, whose places are those of its bits
  unsigned long long payloads;
  Index block;
  int begin;
  int end;
};

template <class Plan>
__device__ __forceinline__ LeafOfLane leaf_of_lane(const TreeLeaf& leaf, int begin) {
  constexpr NodeShape shape = OfTree<Plan>::shape();
  const auto kind = static_cast<NodeKind>(leaf.node & 3);
  const unsigned long long node = leaf.node - (leaf.node & 3);
  LeafOfLane own;
  own.begin = begin;
  own.end = leaf.end;
  own.block = leaf.block;
  own.payloads = node + shape.payload_byte(kind, leaf.end - begin) -
                 Offset(begin) * Offset(sizeof(typename Plan::entry));
  own.places = node + NodeShape::places_byte(kind) +
               (kind == NodeKind::dense ? 1ULL : 0ULL - 2ULL * static_cast<unsigned>(begin));
  return own;
}

/// The slot of a lane in a window of 32.
struct SlotOfLane {
  const unsigned char* payload;
  Index from;  // row of x
  int to;      // row of y in its block; negative where the lane has no entry
};

__device__ __forceinline__ unsigned any_bits(unsigned bits) {
#if __CUDA_ARCH__ >= 800
  return __reduce_or_sync(all_lanes, bits);
#else
  for (int distance = 1; distance < 32; distance *= 2) {
    bits |= __shfl_xor_sync(all_lanes, bits, distance);
  }
  return bits;
#endif
}

/// Slots [first, first + 32) of a piece, as far as they lie before `end`, of a batch of leaves that
/// the lanes hold.
template <class Plan>
__device__ __forceinline__ SlotOfLane slot_of_lane(const LeafOfLane& leaf, bool any_dense,
                                                   int first, int end) {
  using Of = OfTree<Plan>;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int slot = first + lane;
  const int before = __popc(__ballot_sync(all_lanes, leaf.end <= first));
  const bool ends_here = leaf.end > first && leaf.end < first + 32;
  const unsigned ends = any_bits(ends_here ? 1u << (leaf.end - first) : 0u);
  const int holder = (before + __popc(ends << (31 - lane))) % 32;
  const unsigned long long places = __shfl_sync(all_lanes, leaf.places, holder);
  const unsigned long long payloads = __shfl_sync(all_lanes, leaf.payloads, holder);
  const Index block = __shfl_sync(all_lanes, leaf.block, holder);
  const bool exists = slot < end;
  const bool is_dense = (places & 1) != 0;
  SlotOfLane own;
  own.to = -1 - lane;
  own.from = 0;
  own.payload = reinterpret_cast<const unsigned char*>(
      payloads + Offset(slot) * Offset(sizeof(typename Plan::entry)));
  LocalPlace place{0, 0};
  bool has = exists;
  if (any_dense) {
    const int position = slot - __shfl_sync(all_lanes, leaf.begin, holder);
    if (is_dense && exists) {
      place = Of::shape().place_at(position);
      const unsigned bits = __ldg(reinterpret_cast<const unsigned*>(places - 1) + position / 32);
      has = (bits >> (position % 32) & 1) != 0;
    }
  }
  if (exists && !is_dense) {
    const unsigned short bytes =
        __ldg(reinterpret_cast<const unsigned short*>(places + 2ULL * static_cast<unsigned>(slot)));
    place = {static_cast<unsigned char>(bytes & 255), static_cast<unsigned char>(bytes >> 8)};
  }
  if (has) {
    own.to = Of::turned ? place.column : place.row;
    own.from = (block << Plan::log2_size) + (Of::turned ? place.row : place.column);
  }
  return own;
}

/// Component k of row i of a warp's sums lies at k * size + i.
template <class Plan, class R>
__device__ __forceinline__ void add_to_row(const R& part, int to, typename R::scalar* sums) {
#pragma unroll
  for (int k = 0; k < R::components; ++k) sums[k * OfTree<Plan>::size + to] += part.component[k];
}

/// Adds what lanes with one `to` hold into the first of them, in a tree, and then to `sums`. `mask`
/// tells these lanes, `rank` which of them this one is.
template <class Plan, class R>
__device__ __forceinline__ void add_by_tree(R& part, int to, unsigned mask, unsigned rank,
                                            typename R::scalar* sums) {
  const unsigned lane = threadIdx.x % 32;
  while (__any_sync(all_lanes, (mask & (mask - 1)) != 0)) {
    const unsigned above = mask & (0xfffffffeu << lane);
    const bool takes = above != 0 && (rank & 1) == 0;
    const int from = above != 0 ? __ffs(above) - 1 : static_cast<int>(lane);
#pragma unroll
    for (int k = 0; k < R::components; ++k) {
      const auto other = __shfl_sync(all_lanes, part.component[k], from);
      if (takes) part.component[k] += other;
    }
    // Who has given its part away is out.
    const bool gives = (rank & 1) != 0;
    const unsigned givers = __ballot_sync(all_lanes, gives);
    mask = gives ? 0 : mask & ~givers;
    rank = gives ? 0 : rank / 2;
  }
  if (mask != 0 && to >= 0) add_to_row<Plan>(part, to, sums);
  __syncwarp();
}

/// What the lanes of a warp hold, added to `sums`.
template <class Plan, class R>
__device__ __forceinline__ void add_to_rows(R& part, int to, WarpSums<Plan>& own) {
  const unsigned lane = threadIdx.x % 32, below = (1u << lane) - 1;
  if constexpr (!OfTree<Plan>::is_small) {
    const unsigned mask = __match_any_sync(all_lanes, to);
    add_by_tree<Plan>(part, to, mask, __popc(mask & below), own.sums);
  } else {
    // Finding the lanes of one row and adding one after the other is faster by shared memory.
    constexpr unsigned most_rounds = 4;
    if (to >= 0) atomicOr(own.lanes + to, 1u << lane);
    __syncwarp();
    const unsigned mask = to >= 0 ? own.lanes[to] : 0;
    __syncwarp();
    if (to >= 0) own.lanes[to] = 0;
    const unsigned rank = __popc(mask & below);
    if (__any_sync(all_lanes, rank >= most_rounds)) {
      return add_by_tree<Plan>(part, to, mask, rank, own.sums);
    }
    if (to >= 0 && rank == 0) add_to_row<Plan>(part, to, own.sums);
    __syncwarp();
#pragma unroll 1
    for (unsigned round = 1; __any_sync(all_lanes, rank >= round); ++round) {
      if (rank == round) add_to_row<Plan>(part, to, own.sums);
      __syncwarp();
    }
  }
}

/// The payload of a slot; nodes of one or two entries align theirs to 8 bytes only.
template <class Plan>
__device__ __forceinline__ typename Plan::entry load_payload(const unsigned char* payload) {
  using E = typename Plan::entry;
  E entry;
  const auto* const from = reinterpret_cast<const stored_scalar_t<E>*>(payload);
  if constexpr (sizeof(E) % 16 == 0) {
    if (reinterpret_cast<unsigned long long>(payload) % 16 == 0) {
      load_scalars<load_default, E::components, 16>(entry.component, from);
      return entry;
    }
  }
  load_scalars<load_default, E::components, 8>(entry.component, from);
  return entry;
}

/// The windows first, first + step, ... of a batch that ends at slot `end`.
template <class Plan>
__device__ __forceinline__ void add_windows(const typename OfTree<Plan>::Arguments& a,
                                            const LeafOfLane& leaf, int first, int step, int end,
                                            WarpSums<Plan>& own) {
  using Of = OfTree<Plan>;
  const bool any_dense = __any_sync(all_lanes, (leaf.places & 1) != 0);
  for (int window = first; window < end; window += step) {
    const SlotOfLane slot = slot_of_lane<Plan>(leaf, any_dense, window, end);
    auto part = zero_vector<typename Of::R>();
    if (slot.to >= 0) {
      const auto entry = load_payload<Plan>(slot.payload);
      const auto x = load_row<Plan, load_default, typename Of::V>(a.x, 0, slot.from);
      multiply_add(part, detail::as_applied<Plan::form>(load(entry)), x);
    }
    add_to_rows<Plan>(part, slot.to, own);
  }
}

/// The leaves of a piece, shared out over warps: by batches of 32 leaves where there are many, else
/// by windows of slots.
template <class Plan>
__device__ __forceinline__ void add_leaves(const typename OfTree<Plan>::Arguments& a,
                                           const TreePiece& piece, WarpSums<Plan>& own) {
  constexpr int warps = Plan::warps;
  const int warp = static_cast<int>(threadIdx.x / 32), lane = static_cast<int>(threadIdx.x % 32);
  const bool by_batches = piece.leaves >= 32 * warps;
  for (int batch = by_batches ? 32 * warp : 0; batch < piece.leaves;
       batch += by_batches ? 32 * warps : 32) {
    const int count = piece.leaves - batch < 32 ? piece.leaves - batch : 32;
    const TreeLeaf* const leaves = a.leaves + piece.first + batch;
    TreeLeaf leaf{static_cast<unsigned>(NodeKind::coo4), 0, 0x7fffffff};  // behind all
    if (lane < count) {
      load_scalars<load_default, 4, 16>(reinterpret_cast<unsigned*>(&leaf),
                                        reinterpret_cast<const unsigned*>(leaves + lane));
    }
    int first = __shfl_up_sync(all_lanes, leaf.end, 1);
    if (lane == 0) first = batch == 0 ? 0 : __ldg(&leaves[-1].end);
    const LeafOfLane of_lane = leaf_of_lane<Plan>(leaf, first);
    const int begin = __shfl_sync(all_lanes, first, 0);
    const int end = __shfl_sync(all_lanes, leaf.end, count - 1);
    add_windows<Plan>(a, of_lane, begin + (by_batches ? 0 : 32 * warp),
                      by_batches ? 32 : 32 * warps, end, own);
  }
}

/// Where the sums of a piece lie, or those of a group behind its first one.
template <class Plan>
__device__ __forceinline__ typename OfTree<Plan>::T* partials_of(
    const typename OfTree<Plan>::Arguments& a, const TreePiece& piece, int number) {
  constexpr int scalars = OfTree<Plan>::R::components * OfTree<Plan>::size;
  return a.partials + Offset(piece.place + number) * scalars;
}

/// A row's sum over the pieces first, first + step, ... before `end`.
template <class Plan>
__device__ __forceinline__ typename OfTree<Plan>::R sum_of_pieces(
    const typename OfTree<Plan>::Arguments& a, const TreePiece& piece, int first, int end, int step,
    int row) {
  using R = typename OfTree<Plan>::R;
  auto sum = zero_vector<R>();
#pragma unroll 4
  for (int n = first; n < end; n += step) {
    const auto* const from = partials_of<Plan>(a, piece, n) + row;
#pragma unroll
    for (int k = 0; k < R::components; ++k) {
      sum.component[k] += __ldcg(from + k * OfTree<Plan>::size);
    }
  }
  return sum;
}

template <class Plan>
__device__ __forceinline__ void store_sum(const typename OfTree<Plan>::Arguments& a,
                                          const TreePiece& piece, int number, int row,
                                          const typename OfTree<Plan>::R& sum) {
  auto* const to = partials_of<Plan>(a, piece, number) + row;
#pragma unroll
  for (int k = 0; k < OfTree<Plan>::R::components; ++k) {
    to[k * OfTree<Plan>::size] = sum.component[k];
  }
}

/// Whether this block of threads is the last of `count` to come here, once its sums are stored.
__device__ __forceinline__ bool is_last_of(unsigned* arrived, int count) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) {
    last = atomicAdd(arrived, 1u) == static_cast<unsigned>(count - 1);
    if (last) *arrived = 0;
  }
  __syncthreads();
  if (last) __threadfence();
  return last;
}

/// Of a block of y with several pieces, once the sums of this one are stored: calls
/// `finish(row, sum)` if all others are done.
template <class Plan, class Finish>
__device__ __forceinline__ bool join_pieces(const typename OfTree<Plan>::Arguments& a,
                                            const TreePiece& piece, const Finish& finish) {
  using Of = OfTree<Plan>;
  const int groups = groups_of_pieces(piece.pieces), group = piece.number / pieces_of_group;
  const int first = group * pieces_of_group;
  const int end = min(piece.pieces, first + pieces_of_group);
  unsigned* const counters = a.arrived + piece.counter;
  if (!is_last_of(counters + 1 + group, end - first)) return false;
  for (int row = static_cast<int>(threadIdx.x); row < Of::size; row += Of::threads) {
    auto sum = sum_of_pieces<Plan>(a, piece, first, end, 1, row);
    if (groups == 1) {
      finish(row, sum);
    } else {
      store_sum<Plan>(a, piece, first, row, sum);
    }
  }
  if (groups == 1) return true;
  if (!is_last_of(counters, groups)) return false;
  for (int row = static_cast<int>(threadIdx.x); row < Of::size; row += Of::threads) {
    auto sum = sum_of_pieces<Plan>(a, piece, 0, piece.pieces, pieces_of_group, row);
    finish(row, sum);
  }
  return true;
}

template <class Plan>
__device__ __forceinline__ void tree_product(const typename OfTree<Plan>::Arguments& a) {
  using Of = OfTree<Plan>;
  using R = typename Of::R;
  constexpr int d = Of::size, K = R::components;
  constexpr int N = sums_of(Plan::epilogue, Plan::ring);
  __shared__ WarpSums<Plan> of_warp[Plan::warps];
  const TreePiece piece = a.pieces[blockIdx.x];
  WarpSums<Plan>& own = of_warp[threadIdx.x / 32];
  own.clear();
  add_leaves<Plan>(a, piece, own);
  __syncthreads();
  const bool is_alone = piece.pieces == 1;
  const Offset first_row = Offset(piece.block) << Plan::log2_size;
  double dots[N == 0 ? 1 : N] = {};
  const auto finish = [&](int row, R& sum) {
    if (first_row + row >= a.rows) return;
    finish_row<Plan>(a, a.y, a.with, static_cast<Index>(first_row + row), sum, dots);
  };
  for (int row = static_cast<int>(threadIdx.x); row < d; row += Of::threads) {
    R sum;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      const int at = k * d + row;
      sum.component[k] = of_warp[0].sums[at];
#pragma unroll
      for (int w = 1; w < Plan::warps; ++w) sum.component[k] += of_warp[w].sums[at];
    }
    if (is_alone) {
      finish(row, sum);
    } else {
      store_sum<Plan>(a, piece, piece.number, row, sum);
    }
  }
  const bool is_done = is_alone || join_pieces<Plan>(a, piece, finish);
  if constexpr (N != 0) {
    if (is_done) store_partials<N, Of::threads>(a.sums, dots, static_cast<unsigned>(piece.block));
    double total[N];
    if (finish_sums<N, Of::threads>(a.sums, a.blocks, total) && threadIdx.x == 0) {
      for (int v = 0; v < N; ++v) a.results[v] = total[v];
    }
  }
}

}  // namespace heddle::device
