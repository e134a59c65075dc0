// Sums on a GPU with repeatable bits. Threads are counted in groups of 256: the sum of a group is a
// binary tree over its threads, that of all groups a fixed tree over 1024 strided sums. Neither the
// size of blocks nor their number or order changes a bit.
#pragma once

#include "heddle/kernels/arguments.hpp"

namespace heddle::device {

constexpr unsigned all_lanes = 0xffffffffu;

/// Partial sums that blocks of `block` threads leave, each.
__host__ __device__ constexpr int partials_of_block(int block) {
  return block > threads_of_group ? block / threads_of_group : 1;
}

template <int N>
__device__ __forceinline__ void add_over_lanes(double (&sum)[N], int lanes = 32) {
  for (int distance = 1; distance < lanes; distance *= 2) {
#pragma unroll
    for (int v = 0; v < N; ++v) sum[v] += __shfl_xor_sync(all_lanes, sum[v], distance);
  }
}

/// Leaves in the first warp's lane w the sum of the warps of w's group of `width` warps.
template <int N, int Block>
__device__ __forceinline__ void add_over_warps(double (&sum)[N], int width) {
  constexpr int warps = Block / 32;
  __shared__ double of_warp[N][warps];
  __syncwarp();  // rows of different length end their loops apart
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

/// The sums of `Block` threads, number `block` of the launch, into their partials.
template <int N, int Block>
__device__ __forceinline__ void store_partials(const SumSpace& space, double (&sum)[N],
                                               unsigned block) {
  constexpr int warps_of_group = threads_of_group / 32;
  add_over_warps<N, Block>(sum, warps_of_group);
  if (threadIdx.x < Block / 32 && threadIdx.x % warps_of_group == 0) {
    const unsigned long long at =
        static_cast<unsigned long long>(block) * partials_of_block(Block) +
        threadIdx.x / warps_of_group;
#pragma unroll
    for (int v = 0; v < N; ++v) space.partials[at * N + v] = sum[v];
  }
}

/// All partial sums that `blocks` blocks of `Block` threads left, added by one block of `Threads`:
/// `total` is that of its thread 0.
template <int N, int Block, int Threads>
__device__ __forceinline__ void add_partials(const double* partials, unsigned blocks,
                                             double (&total)[N]) {
  constexpr unsigned strides = 1024;
  constexpr unsigned parts = Block < threads_of_group ? threads_of_group / Block : 1;
  constexpr unsigned per_thread = strides / Threads;
  const unsigned count = blocks * partials_of_block(Block);
  const unsigned groups = (count + parts - 1) / parts;
  // Blocks of 64 have enough loads on the way, and took seconds to compile with more.
  constexpr int at_once = per_thread * parts < 64 ? 4 : 1;
  double sums[per_thread][N] = {};
#pragma unroll at_once
  for (unsigned first = threadIdx.x * per_thread; first < groups; first += strides) {
#pragma unroll
    for (unsigned s = 0; s < per_thread; ++s) {
#pragma unroll
      for (int v = 0; v < N; ++v) {
        double part[parts];
#pragma unroll
        for (unsigned p = 0; p < parts; ++p) {
          const unsigned at = (first + s) * parts + p;
          part[p] =
              at < count ? __ldcg(partials + static_cast<unsigned long long>(at) * N + v) : 0.0;
        }
#pragma unroll
        for (unsigned half = 1; half < parts; half *= 2) {
#pragma unroll
          for (unsigned p = 0; p + half < parts; p += 2 * half) part[p] += part[p + half];
        }
        sums[s][v] += part[0];
      }
    }
  }
#pragma unroll
  for (unsigned half = 1; half < per_thread; half *= 2) {
#pragma unroll
    for (unsigned s = 0; s + half < per_thread; s += 2 * half) {
#pragma unroll
      for (int v = 0; v < N; ++v) sums[s][v] += sums[s + half][v];
    }
  }
  add_over_warps<N, Threads>(sums[0], 32);
#pragma unroll
  for (int v = 0; v < N; ++v) total[v] = sums[0][v];
}

/// Threads of a kernel of one block that adds the partials of the kernel before it: on a device
/// that costs less than what every block loses by telling the last one that it has ended.
constexpr int finish_threads = 1024;

/// For a launch whose sums the host waits for, one kernel less. After a block's last
/// `store_partials`: true in the last block of the grid to come here, in whose thread 0 `total`
/// then holds the sums of all `blocks` numbered blocks.
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
  add_partials<N, Block, Block>(space.partials, blocks, total);
  if (threadIdx.x == 0) *space.finished = 0;
  return true;
}

}  // namespace heddle::device
