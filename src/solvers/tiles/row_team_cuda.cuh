// Teams of threads that take a row of a hierarchy's matrices each.
#pragma once

#include "base/launch_cuda.cuh"
#include "heddle/kernels/local_systems.hpp"

namespace heddle::cuda::tile_values {

inline constexpr int threads = 128;  // per block of rows

/// Mask of the lanes of a warp that make a team with this thread; their number is a power of two.
__device__ __forceinline__ unsigned mask_of_team(int lanes) {
  if (lanes >= 32) return 0xffffffffu;
  const int first = static_cast<int>(threadIdx.x) % 32 / lanes * lanes;
  return ((1u << lanes) - 1) << first;
}

/// A power of two of lanes of a warp, or a block, for each row.
struct RowTeam {
  int lanes, lane;
  double* shared;  // per block

  template <class F>
  __device__ __forceinline__ void each(const F& f) const {
    f(lane);
    meet();
  }
  template <class F>
  __device__ __forceinline__ double sum(const F& f) const {
    double value = f(lane);
    for (int distance = min(lanes, 32) / 2; distance > 0; distance /= 2) {
      value += __shfl_xor_sync(mask_of_team(lanes), value, distance);
    }
    if (lanes <= 32) return value;
    if (lane % 32 == 0) shared[lane / 32] = value;
    __syncthreads();
    value = 0;
    for (int warp = 0; warp < threads / 32; ++warp) value += shared[warp];
    __syncthreads();
    return value;
  }

 private:
  __device__ __forceinline__ void meet() const {
    if (lanes > 32) {
      __syncthreads();
    } else if (lanes > 1) {
      __syncwarp(mask_of_team(lanes));
    }
  }
};

/// Calls `body(team, row, number of the team in its block)`. A team leaves as a whole.
template <class Body>
__global__ void __launch_bounds__(threads) run_rows(Index rows, int lanes, const Body body) {
  __shared__ double shared[threads / 32];
  const int number = static_cast<int>(threadIdx.x) / lanes;
  const Offset row = Offset(blockIdx.x) * (threads / lanes) + number;
  if (row >= rows) return;
  body(RowTeam{lanes, static_cast<int>(threadIdx.x) % lanes, shared}, static_cast<Index>(row),
       number);
}

template <class Body>
void for_each_row(Index rows, int lanes, unsigned shared_bytes, const Stream& stream,
                  const Body& body) {
  if (rows <= 0) return;
  const OnGpu here(stream);
  const int rows_of_block = threads / lanes;
  const auto blocks = static_cast<unsigned>((Offset(rows) + rows_of_block - 1) / rows_of_block);
  run_rows<<<blocks, threads, shared_bytes, stream.queue>>>(rows, lanes, body);
  check(cudaGetLastError(), "the launch of a kernel");
}

/// The largest power of two of a warp's lanes that all have work.
inline int lanes_of_warp(double work) {
  int lanes = 1;
  while (lanes < 32 && 2 * lanes <= work) lanes *= 2;
  return lanes;
}

/// Same, but a block if there are few rows with much work.
inline int lanes_for(Index rows, double work) {
  constexpr Index few_rows = 4096;
  constexpr double much_work = 64;
  return rows <= few_rows && work >= much_work ? threads : lanes_of_warp(work);
}

template <class Run>
void with_ring(int ring, const Run& run) {
  switch (ring) {
    case ring_size(Ring::real):
      return run.template operator()<Ring::real>();
    case ring_size(Ring::complex):
      return run.template operator()<Ring::complex>();
    default:
      return run.template operator()<Ring::quaternion>();
  }
}

}  // namespace heddle::cuda::tile_values
