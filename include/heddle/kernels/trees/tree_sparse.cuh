// Sparse leaves of a tree in a product on a GPU: a warp takes windows of 32 runs, whatever leaves
// they belong to.
#pragma once

#include "heddle/kernels/trees/tree_sums.cuh"

namespace heddle::device {

/// A sparse leaf as a warp keeps it in shared memory: places and payloads as if the leaf began at
/// run 0 of the piece.
struct alignas(16) HeldLeaf {
  unsigned long long places;
  unsigned long long payloads;
  Index first_of_x;
  int last;  // run
  int lacks;
};

/// Stores the sparse leaves of the lanes without gaps, followed by sentinels that lie past every
/// run.
template <class Plan>
__device__ __forceinline__ void hold_leaf(HeldLeaf* held, const TreeLeaf& leaf, int begin, int end,
                                          bool is_sparse) {
  using Of = OfTree<Plan>;
  const unsigned lane = threadIdx.x % 32;
  const unsigned mask = __ballot_sync(all_lanes, is_sparse);
  __syncwarp();  // the previous leaves are no longer read
  if (is_sparse) {
    const Offset payload_byte =
        Of::shape().payload_byte(leaf.kind(), (end - begin) * Of::run - leaf.lacks());
    HeldLeaf& own = held[__popc(mask & ((1u << lane) - 1))];
    own.places = leaf.address() + NodeShape::places_byte(leaf.kind()) - Offset(begin) * 2 * Of::run;
    own.payloads = leaf.address() + payload_byte -
                   Offset(begin) * Of::run * Offset(sizeof(typename Plan::entry));
    own.first_of_x = leaf.block << Plan::log2_size;
    own.last = end - 1;
    own.lacks = leaf.lacks();
  }
  if (static_cast<int>(lane) >= __popc(mask)) held[lane].last = 0x7ffffffe;
  __syncwarp();
}

/// The places of a run of `count` entries, two bytes each: rows in the lower one.
template <int run>
__device__ __forceinline__ void load_places(unsigned (&pairs)[(run + 1) / 2],
                                            unsigned long long address, int count) {
  if constexpr (run == 1) {
    pairs[0] = count > 0 ? __ldg(reinterpret_cast<const unsigned short*>(address)) : 0;
  } else if constexpr (run == 2) {
    pairs[0] = count > 0 ? __ldg(reinterpret_cast<const unsigned*>(address)) : 0;
  } else if (count > 2) {  // not a node of one or two entries, which aligns them to 4 bytes
    const uint2 both = __ldg(reinterpret_cast<const uint2*>(address));
    pairs[0] = both.x;
    pairs[1] = both.y;
  } else {
    pairs[0] = count > 0 ? __ldg(reinterpret_cast<const unsigned*>(address)) : 0;
    pairs[1] = 0;
  }
}

/// The payloads of a run of `count` entries; nodes of one or two align theirs to 8 bytes only.
template <class E, int run>
__device__ __forceinline__ void load_payloads(E (&entries)[run], unsigned long long address,
                                              int count) {
  using S = stored_scalar_t<E>;
  constexpr int K = E::components, bytes = int(sizeof(E)), wide = piece_bytes(run * bytes);
  const auto* const from = reinterpret_cast<const S*>(address);
  // Padding to 16 bytes lets three entries of four be read as four.
  constexpr int whole = run == 4 && (bytes == 4 || bytes == 8) ? 3 : run;
  const bool is_aligned = run == 4 || wide < 16 || address % 16 == 0;
  if (count >= whole && is_aligned) {
    S raw[run * K];
    load_scalars<load_default, run * K, 16>(raw, from);
    memcpy(entries, raw, sizeof raw);
    return;
  }
#pragma unroll
  for (int g = 0; g < run; ++g) {
    if (g < count) load_scalars<load_default, K, 8>(entries[g].component, from + g * K);
  }
}

/// Adds the windows first, first + step, ... before run `end`, of a batch of held leaves.
template <class Plan>
__device__ __forceinline__ void add_windows(const typename OfTree<Plan>::Arguments& a,
                                            const HeldLeaf* held, int first, int step, int end,
                                            WarpSums<Plan>& own) {
  using Of = OfTree<Plan>;
  using E = typename Plan::entry;
  constexpr int run = Of::run;
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int last = held[lane].last;
  for (int window = first; window < end; window += step) {
    const int at = window + lane;
    const int before = __popc(__ballot_sync(all_lanes, last < window));
    const bool ends_here = last >= window && last < window + 31;
    const unsigned ends = any_bits(ends_here ? 2u << (last - window) : 0u);
    const HeldLeaf leaf = held[at < end ? before + __popc(ends << (31 - lane)) : before];
    int count = at < end ? run : 0;
    if (at == leaf.last) count -= leaf.lacks;
    unsigned pairs[(run + 1) / 2];
    load_places<run>(pairs, leaf.places + Offset(at) * 2 * run, count);
    E entries[run];
    load_payloads(entries, leaf.payloads + Offset(at) * run * Offset(sizeof(E)), count);
    typename Of::V x[run];
    int to[run];
#pragma unroll
    for (int g = 0; g < run; ++g) {
      const int row = static_cast<int>(pairs[g / 2] >> (16 * (g % 2)) & 255);
      const int column = static_cast<int>(pairs[g / 2] >> (16 * (g % 2) + 8) & 255);
      to[g] = g < count ? (Of::is_transposed ? column : row) : -1;
      if (g < count) {
        x[g] = load_row<Plan, load_default, typename Of::V>(
            a.x, 0, leaf.first_of_x + (Of::is_transposed ? row : column));
      }
    }
    typename Of::R part[run];
#pragma unroll
    for (int g = 0; g < run; ++g) {
      part[g] = zero_vector<typename Of::R>();
      if (g < count) multiply_add(part[g], detail::as_applied<Plan::form>(load(entries[g])), x[g]);
    }
    add_to_rows<Plan>(part, to, own);
  }
}

/// Adds the sparse leaves of a piece. True if this warp has seen dense ones.
template <class Plan>
__device__ __forceinline__ bool add_sparse_leaves(const typename OfTree<Plan>::Arguments& a,
                                                  const TreePiece& piece, WarpSums<Plan>& own,
                                                  HeldLeaf* held) {
  const int lane = static_cast<int>(threadIdx.x % 32);
  const int runs = static_cast<int>(piece.end - piece.begin);
  const WarpShare share = share_of_warp<Plan>(piece);
  bool any_dense = false;
  for (int batch = share.first; batch < piece.leaves; batch += share.step) {
    const int count = min(piece.leaves - batch, 32);
    const TreeLeaf* const leaves = a.leaves + piece.first + batch;
    TreeLeaf leaf{0, 0, 0};
    if (lane < count) {
      load_scalars<load_default, 4, 16>(reinterpret_cast<unsigned*>(&leaf),
                                        reinterpret_cast<const unsigned*>(leaves + lane));
    }
    unsigned before = __shfl_up_sync(all_lanes, leaf.end, 1);
    if (lane == 0) before = batch == 0 ? piece.before : __ldg(&leaves[-1].end);
    const int begin = static_cast<int>(before - piece.begin);
    const int end = static_cast<int>(leaf.end - piece.begin);
    const bool is_dense = leaf.kind() == NodeKind::dense;
    any_dense |= __any_sync(all_lanes, lane < count && is_dense);
    hold_leaf<Plan>(held, leaf, begin, end, lane < count && !is_dense);
    const int first_run = max(0, __shfl_sync(all_lanes, begin, 0));
    const int end_of_runs = min(runs, __shfl_sync(all_lanes, end, count - 1));
    add_windows<Plan>(a, held, first_run + 32 * share.part, 32 * share.parts, end_of_runs, own);
  }
  return any_dense;
}

}  // namespace heddle::device
