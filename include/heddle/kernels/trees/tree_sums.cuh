// Sums of a block of y on a GPU: a warp adds to its own sums in shared memory, and blocks of
// threads join theirs, always in the same order.
#pragma once

#include "heddle/kernels/product.cuh"
#include "heddle/kernels/trees/tree_arguments.hpp"
#include "heddle/kernels/trees/tree_form.hpp"

namespace heddle::device {

// `Plan` below is a struct of constants that the host writes into the program:
//   entry, scalar (of fields), form, log2_size, run, warps, epilogue, ring, soa (false).

template <class Plan>
struct OfTree {
  using E = typename Plan::entry;
  using A = detail::applied_entry_t<Plan::form, E>;
  using V = vector_entry_t<A>;
  using R = result_entry_t<A>;
  using T = typename R::scalar;
  static constexpr bool is_transposed = Plan::form != detail::TreeForm::direct;
  static constexpr int size = 1 << Plan::log2_size;
  static constexpr int threads = 32 * Plan::warps;
  static constexpr int run = Plan::run;
  static constexpr bool is_small = int(sizeof(R)) <= 8;
  using Arguments = TreeArguments<typename Plan::scalar, T>;
  __device__ static constexpr NodeShape shape() { return {Plan::log2_size, int(sizeof(E))}; }
};

/// A warp's sums of its block of y.
template <class Plan>
struct WarpSums {
  using Of = OfTree<Plan>;
  typename Of::T sums[Of::R::components * Of::size];
  /// The lanes whose entries share a row, for each entry of a run.
  unsigned lanes[Of::is_small ? Of::run * Of::size : 1];

  __device__ __forceinline__ void clear() {
    constexpr int scalars = Of::R::components * Of::size;
    const int lane = static_cast<int>(threadIdx.x % 32);
    for (int i = lane; i < scalars; i += 32) sums[i] = 0;
    if constexpr (Of::is_small) {
      for (int i = lane; i < Of::run * Of::size; i += 32) lanes[i] = 0;
    }
    __syncwarp();
  }
};

/// A warp's share of a piece: batches of 32 leaves where there are many of them, else a part of
/// each batch.
struct WarpShare {
  int first;  // leaf
  int step;
  int part;
  int parts;
};
template <class Plan>
__device__ __forceinline__ WarpShare share_of_warp(const TreePiece& piece) {
  const int warp = static_cast<int>(threadIdx.x / 32);
  if (piece.leaves >= 32 * Plan::warps) return {32 * warp, 32 * Plan::warps, 0, 1};
  return {0, 32, warp, Plan::warps};
}

template <class R>
__device__ __forceinline__ void add_result(R& sum, const R& more) {
#pragma unroll
  for (int k = 0; k < R::components; ++k) sum.component[k] += more.component[k];
}

/// Component k of row i of a warp's sums lies at k * size + i.
template <class Plan, class R>
__device__ __forceinline__ void add_to_row(const R& part, int to, typename R::scalar* sums) {
#pragma unroll
  for (int k = 0; k < R::components; ++k) sums[k * OfTree<Plan>::size + to] += part.component[k];
}

/// Adds the values of lanes at distances `first`, twice that, and so on below `end`.
template <class R>
__device__ __forceinline__ void add_lanes(R& part, int first, int end) {
#pragma unroll
  for (int distance = first; distance < end; distance *= 2) {
#pragma unroll
    for (int k = 0; k < R::components; ++k) {
      part.component[k] += __shfl_xor_sync(all_lanes, part.component[k], distance);
    }
  }
}

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

/// Adds the parts of lanes with the same `to` into the first of them, in a tree, and then to
/// `sums`. `mask` has these lanes, `rank` is this lane's number among them.
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
    // Lanes that have given their part away drop out.
    const bool gives = (rank & 1) != 0;
    const unsigned givers = __ballot_sync(all_lanes, gives);
    mask = gives ? 0 : mask & ~givers;
    rank = gives ? 0 : rank / 2;
  }
  if (mask != 0 && to >= 0) add_to_row<Plan>(part, to, sums);
  __syncwarp();
}

/// Adds the parts that the lanes of a warp hold, `run` each, to its sums; a part with negative `to`
/// is skipped.
template <class Plan, class R, int run>
__device__ __forceinline__ void add_to_rows(R (&part)[run], int (&to)[run], WarpSums<Plan>& own) {
  const unsigned lane = threadIdx.x % 32, below = (1u << lane) - 1;
  // Consecutive entries often belong to one row.
#pragma unroll
  for (int g = 0; g + 1 < run; ++g) {
    if (to[g] >= 0 && to[g] == to[g + 1]) {
      add_result(part[g + 1], part[g]);
      to[g] = -1;
    }
  }
  if constexpr (!OfTree<Plan>::is_small) {
#pragma unroll
    for (int g = 0; g < run; ++g) {
      const int key = to[g] >= 0 ? to[g] : -1 - static_cast<int>(lane);
      const unsigned mask = __match_any_sync(all_lanes, key);
      add_by_tree<Plan>(part[g], to[g], mask, __popc(mask & below), own.sums);
    }
  } else {
    // Finding the lanes of one row and adding one after the other is faster through shared memory.
    constexpr unsigned max_rounds = 4;
    unsigned mask[run], rounds = 0;
#pragma unroll
    for (int g = 0; g < run; ++g) {
      if (to[g] >= 0) atomicOr(own.lanes + g * OfTree<Plan>::size + to[g], 1u << lane);
    }
    __syncwarp();
#pragma unroll
    for (int g = 0; g < run; ++g) {
      mask[g] = to[g] >= 0 ? own.lanes[g * OfTree<Plan>::size + to[g]] : 0;
      const unsigned rank = __popc(mask[g] & below);
      rounds |= (to[g] >= 0 ? 1u << min(rank, max_rounds) : 0u) << (8 * g);
    }
    __syncwarp();
    rounds = any_bits(rounds);
#pragma unroll
    for (int g = 0; g < run; ++g) {
      if (to[g] >= 0) own.lanes[g * OfTree<Plan>::size + to[g]] = 0;
      const unsigned rank = __popc(mask[g] & below);
      const unsigned ranks = rounds >> (8 * g) & 255;
      if (ranks >> max_rounds != 0) {
        add_by_tree<Plan>(part[g], to[g], mask[g], rank, own.sums);
        continue;
      }
#pragma unroll 1
      for (unsigned round = 0; ranks >> round != 0; ++round) {
        if (to[g] >= 0 && rank == round) add_to_row<Plan>(part[g], to[g], own.sums);
        __syncwarp();
      }
    }
  }
}

/// The place of the sums of piece `number`, or of a group that begins with it.
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

/// True if this block of threads is the last of `count` to arrive. Called once its sums are stored.
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

/// For a block of y with several pieces, once the sums of this one are stored: calls `finish(row,
/// sum)` if all others are done.
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

}  // namespace heddle::device
