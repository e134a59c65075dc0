// The join of a rank's partial sums within its subtrees, as a part of kernels.
#pragma once

#include "group_sums_cuda.hpp"
#include "heddle/detail/reduction.hpp"
#include "heddle/kernels/rank_sums.cuh"

namespace heddle::cuda {

inline constexpr int groups_of_tile = 256;  // and threads in a block
inline constexpr int numbers_of_block = Reduction<double>::width;

__device__ __forceinline__ double join_two(double a, double b, bool adds) {
  if (adds) return a + b;
  return a > b || isnan(a) ? a : b;
}

/// The pairwise tree over the first `present` threads' values; thread 0 has the result.
__device__ __forceinline__ double join_over_block(double value, int present, bool adds) {
  constexpr int warp = 32;
  constexpr int warps = groups_of_tile / warp;
  __shared__ double of_warp[warps];
  const int thread = static_cast<int>(threadIdx.x);
  for (int half = 1; half < warp; half *= 2) {
    const double other = __shfl_down_sync(~0u, value, half);
    if (thread % (2 * half) == 0 && thread + half < present) value = join_two(value, other, adds);
  }
  __syncthreads();  // the earlier numbers have been read
  if (thread % warp == 0) of_warp[thread / warp] = value;
  __syncthreads();
  if (thread >= warp) return value;
  value = of_warp[thread % warps];
  for (int half = 1; half < warps; half *= 2) {
    const double other = __shfl_down_sync(~0u, value, half);
    if (thread % (2 * half) == 0 && (thread + half) * warp < present) {
      value = join_two(value, other, adds);
    }
  }
  return value;
}

/// Called by block `at` of the tiles: joins the groups of its tile. The last block of a node also
/// joins its tiles, which are so few that a separate kernel would take longer to begin. Thread 0
/// calls `deliver(node, v, sum)` for each number of a node that is complete. Each y of the grid
/// takes `numbers_of_block` of the numbers.
template <class Deliver>
__device__ __forceinline__ void join_tile(const GroupJoin& a, unsigned at, const Deliver& deliver) {
  __shared__ bool is_last;
  const int first_number = static_cast<int>(blockIdx.y) * numbers_of_block;
  const int end_number = min(a.count, first_number + numbers_of_block);
  const GroupTile tile = a.tiles[at];
  const NodeTiles node = a.nodes[tile.node];
  const int thread = static_cast<int>(threadIdx.x);
  const double* const from =
      thread < tile.groups
          ? a.partials + static_cast<long long>(a.group_at[tile.first + thread]) * a.parts * a.count
          : nullptr;
  for (int v = first_number; v < end_number; ++v) {
    const double own = from != nullptr ? device::sum_of_parts(from + v, a.parts, a.count) : 0;
    const double sum = join_over_block(own, tile.groups, a.adds);
    if (thread != 0) continue;
    if (node.tiles == 1) {
      deliver(tile.node, v, sum);
    } else {
      a.of_tiles[static_cast<long long>(at) * a.count + v] = sum;
    }
  }
  if (node.tiles == 1) return;
  if (thread == 0) {
    __threadfence();
    unsigned* const of_node =
        a.finished + static_cast<long long>(tile.node) * gridDim.y + blockIdx.y;
    is_last = atomicAdd(of_node, 1u) + 1 == static_cast<unsigned>(node.tiles);
    if (is_last) *of_node = 0;
    __threadfence();
  }
  __syncthreads();
  if (!is_last) return;
  // A thread joins a subtree of tiles, if there are more tiles than threads.
  const int of_each = max(node.width / groups_of_tile, 1);
  const int first = thread * of_each, end = min(first + of_each, node.tiles);
  const int present = (node.tiles + of_each - 1) / of_each;
  for (int v = first_number; v < end_number; ++v) {
    double* const of_node = a.of_tiles + static_cast<long long>(node.first) * a.count + v;
    for (int half = 1; half < of_each; half *= 2) {
      for (int to = first; to + half < end; to += 2 * half) {
        double* const front = of_node + static_cast<long long>(to) * a.count;
        const double* const other = of_node + static_cast<long long>(to + half) * a.count;
        __stcg(front, join_two(__ldcg(front), __ldcg(other), a.adds));
      }
    }
    const double own =
        thread < present ? __ldcg(of_node + static_cast<long long>(first) * a.count) : 0;
    const double sum = join_over_block(own, present, a.adds);
    if (thread == 0) deliver(tile.node, v, sum);
  }
}

}  // namespace heddle::cuda
