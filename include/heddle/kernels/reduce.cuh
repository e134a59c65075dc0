// Sums on a GPU with repeatable bits. Threads are counted in groups of 256: the sum of a group is a
// binary tree over its threads, that of all groups a fixed tree over 1024 strided sums. Neither the
// size of blocks nor their number or order changes a bit.
#pragma once

#include "heddle/kernels/arguments.hpp"

namespace heddle::device {

constexpr unsigned all_lanes = 0xffffffffu;

template <int N>
__device__ __forceinline__ void add_over_lanes(double (&sum)[N], int lanes = 32) {
  for (int distance = 1; distance < lanes; distance *= 2) {
#pragma unroll
    for (int v = 0; v < N; ++v) sum[v] += __shfl_xor_sync(all_lanes, sum[v], distance);
  }
}

/// Leaves in lane w of the first warp the sum over w's group of `width` warps, a power of two.
template <int N, int Block>
__device__ __forceinline__ void add_over_warps(double (&sum)[N], int width) {
  constexpr int warps = Block / 32;
  __shared__ double of_warp[N][warps];
  __syncwarp();  // rows of different lengths end their loops at different times
  add_over_lanes(sum);
  __syncthreads();
  if (threadIdx.x % 32 == 0) {
#pragma unroll
    for (int v = 0; v < N; ++v) of_warp[v][threadIdx.x / 32] = sum[v];
  }
  __syncthreads();
  if (threadIdx.x < 32) {
#pragma unroll
    for (int v = 0; v < N; ++v) sum[v] = threadIdx.x < warps ? of_warp[v][threadIdx.x] : 0.0;
    add_over_lanes(sum, width < warps ? width : warps);
  }
}

/// Stores the sums of the `Block` threads of block `block` of the launch in their partials.
template <int N, int Block>
__device__ __forceinline__ void store_partials(const SumSpace& space, double (&sum)[N],
                                               unsigned block) {
  constexpr int warps_of_part = threads_of_part(Block) / 32;
  add_over_warps<N, Block>(sum, warps_of_part);
  if (threadIdx.x < Block / 32 && threadIdx.x % warps_of_part == 0) {
    const unsigned long long at =
        static_cast<unsigned long long>(block) * partials_of_block(Block) +
        threadIdx.x / warps_of_part;
#pragma unroll
    for (int v = 0; v < N; ++v) space.partials[at * N + v] = sum[v];
  }
}

/// The largest power of two up to `threads`.
__device__ constexpr int adders_of(int threads) {
  int adders = 1;
  while (2 * adders <= threads) adders *= 2;
  return adders;
}

/// Adds partial sums in one block of `Threads`, a power of two of which do the work; `total` is
/// valid in thread 0. `This_launch`: other blocks of this very launch left the sums. `Most`: an
/// upper bound of the numbers to add, 0 if there is none.
template <int N, int Threads, unsigned Parts, bool This_launch, unsigned Most = 0>
__device__ __forceinline__ void add_partials(const double* partials, unsigned count,
                                             double (&total)[N]) {
  constexpr unsigned strides = 1024;
  constexpr unsigned adders = adders_of(Threads);
  constexpr unsigned per_thread = strides / adders;
  const unsigned groups = (count + Parts - 1) / Parts;
  // Rounds whose loads are in flight together. More rounds than exist would take longer to compile;
  // blocks of 64 have enough loads in one round.
  constexpr unsigned rounds = Most == 0 ? 4 : (Most / (N * Parts) + strides - 1) / strides;
  constexpr unsigned at_once = per_thread * Parts < 64 ? rounds : 1;
  // The sums of a block of 32 would not fit into registers, and take long to compile.
  constexpr unsigned unrolled = per_thread * Parts < 256 ? per_thread : 1;
  double sums[per_thread][N] = {};
  const unsigned mine =
      adders == Threads || threadIdx.x < adders ? threadIdx.x * per_thread : groups;
#pragma unroll at_once
  for (unsigned first = mine; first < groups; first += strides) {
#pragma unroll unrolled
    for (unsigned s = 0; s < per_thread; ++s) {
#pragma unroll
      for (int v = 0; v < N; ++v) {
        double part[Parts];
#pragma unroll
        for (unsigned p = 0; p < Parts; ++p) {
          const unsigned at = (first + s) * Parts + p;
          const double* from = partials + static_cast<unsigned long long>(at) * N + v;
          part[p] = at >= count ? 0.0 : This_launch ? __ldcg(from) : *from;
        }
#pragma unroll
        for (unsigned half = 1; half < Parts; half *= 2) {
#pragma unroll
          for (unsigned p = 0; p + half < Parts; p += 2 * half) part[p] += part[p + half];
        }
        sums[s][v] += part[0];
      }
    }
  }
#pragma unroll unrolled
  for (unsigned half = 1; half < per_thread; half *= 2) {
#pragma unroll unrolled
    for (unsigned s = 0; s + half < per_thread; s += 2 * half) {
#pragma unroll
      for (int v = 0; v < N; ++v) sums[s][v] += sums[s + half][v];
    }
  }
  add_over_warps<N, Threads>(sums[0], 32);
#pragma unroll
  for (int v = 0; v < N; ++v) total[v] = sums[0][v];
}

/// Adds the partial sums of an earlier kernel, in every block of `Threads` for itself; all its
/// threads get `total`. `Parts`: partial sums that make the sum of one group.
template <int N, int Threads, unsigned Parts>
__device__ __forceinline__ void add_parts_again(const PartialSums& sums, double (&total)[N]) {
  __shared__ double of_block[N];
  add_partials<N, Threads, Parts, false>(sums.partials, sums.count, total);
  if (threadIdx.x == 0) {
#pragma unroll
    for (int v = 0; v < N; ++v) of_block[v] = total[v];
  }
  __syncthreads();
#pragma unroll
  for (int v = 0; v < N; ++v) total[v] = of_block[v];
}

/// Same, where the number of parts is not known in advance.
template <int N, int Threads>
__device__ __forceinline__ void add_again(const PartialSums& sums, double (&total)[N]) {
  switch (sums.parts) {
    case 1:
      return add_parts_again<N, Threads, 1>(sums, total);
    case 2:
      return add_parts_again<N, Threads, 2>(sums, total);
    case 4:
      return add_parts_again<N, Threads, 4>(sums, total);
    default:
      return add_parts_again<N, Threads, 8>(sums, total);
  }
}

/// Saves a kernel in a launch whose sums the host waits for. Called after a block's last
/// `store_partials`: true in the last block of the grid to get here, in whose thread 0 `total` then
/// holds the sums of all `blocks` numbered blocks.
template <int N, int Block>
__device__ __forceinline__ bool finish_sums(const SumSpace& space, unsigned blocks,
                                            double (&total)[N]) {
  __shared__ bool last;
  __threadfence();
  __syncthreads();
  if (threadIdx.x == 0) last = atomicAdd(space.finished, 1u) == gridDim.x - 1;
  __syncthreads();
  if (!last) return false;
  __threadfence();
  constexpr unsigned parts = parts_of_group(Block);
  add_partials<N, Block, parts, true>(space.partials, blocks * partials_of_block(Block), total);
  if (threadIdx.x == 0) *space.finished = 0;
  return true;
}

}  // namespace heddle::device
