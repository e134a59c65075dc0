// Kernels of several steps whose blocks of threads run side by side and wait for one another.
#pragma once

#include <cooperative_groups.h>

#include <algorithm>

#include "base/launch_cuda.cuh"
#include "place_bits.cuh"

namespace heddle::cuda {

/// Blocks on a multiprocessor; all GPUs have room for this many.
inline constexpr int blocks_of_multiprocessor = 4;

/// The number of blocks that can run side by side, or fewer if there is less to do.
inline unsigned blocks_side_by_side(Offset count, const Stream& stream) {
  int multiprocessors = 0;
  check(cudaDeviceGetAttribute(&multiprocessors, cudaDevAttrMultiProcessorCount, stream.gpu),
        "cudaDeviceGetAttribute");
  const Offset most = Offset(multiprocessors) * blocks_of_multiprocessor;
  return static_cast<unsigned>(std::clamp<Offset>((count + block_size - 1) / block_size, 1, most));
}

/// Queues a kernel with launch bounds of `block_size` threads and `blocks_of_multiprocessor`.
template <class Arguments>
void launch_side_by_side(void (*kernel)(Arguments), unsigned blocks, const Stream& stream,
                         Arguments& arguments) {
  const OnGpu here(stream);
  void* pointers[] = {&arguments};
  check(cudaLaunchCooperativeKernel(reinterpret_cast<const void*>(kernel), dim3(blocks),
                                    dim3(block_size), pointers, 0, stream.queue),
        "cudaLaunchCooperativeKernel");
}

__device__ inline void wait_for_all() { cooperative_groups::this_grid().sync(); }

/// Neighbours that a block of threads takes.
struct Share {
  Offset begin, end;
};
__device__ inline Share share_of_block(Offset count) {
  const Offset each = (count + gridDim.x - 1) / gridDim.x;
  const Offset begin = min(count, each * blockIdx.x);
  return {begin, min(count, begin + each)};
}

/// The sum before a thread, or before a block of threads, and in all.
struct Sums {
  Offset before, all;
};

/// All threads of a block take part.
__device__ inline Sums sums_of_block(Offset own) {
  constexpr unsigned warps = block_size / 32;
  __shared__ Offset of_warp[warps];
  const unsigned lane = threadIdx.x % 32, warp = threadIdx.x / 32;
  Offset sum = own;
  for (unsigned step = 1; step < 32; step *= 2) {
    const Offset other = __shfl_up_sync(~0U, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) of_warp[warp] = sum;
  __syncthreads();
  Sums sums{sum - own, 0};
#pragma unroll
  for (unsigned w = 0; w < warps; ++w) {
    if (w < warp) sums.before += of_warp[w];
    sums.all += of_warp[w];
  }
  __syncthreads();
  return sums;
}

__device__ inline Sums sums_of_all_blocks(const Offset* of_block) {
  constexpr unsigned warps = block_size / 32;
  __shared__ Sums of_warp[warps];
  Sums own{0, 0};
  for (unsigned block = threadIdx.x; block < gridDim.x; block += block_size) {
    const Offset here = of_block[block];
    own.all += here;
    if (block < blockIdx.x) own.before += here;
  }
  for (unsigned step = 16; step > 0; step /= 2) {
    own.before += __shfl_xor_sync(~0U, own.before, step);
    own.all += __shfl_xor_sync(~0U, own.all, step);
  }
  if (threadIdx.x % 32 == 0) of_warp[threadIdx.x / 32] = own;
  __syncthreads();
  Sums sums{0, 0};
#pragma unroll
  for (unsigned w = 0; w < warps; ++w) {
    sums.before += of_warp[w].before;
    sums.all += of_warp[w].all;
  }
  __syncthreads();
  return sums;
}

}  // namespace heddle::cuda
