// Rows of approximate inverses on a GPU: a part of a warp for a short row, a block for a long one.
#pragma once

#include "heddle/kernels/local_inverse.hpp"

namespace heddle::device {

/// The largest value and its place; of equal values the first counts, as on the CPU.
struct LargestAt {
  double value;
  int at;
  __device__ __forceinline__ void take(double other, int other_at) {
    if (other > value || (other == value && other_at < at)) {
      value = other;
      at = other_at;
    }
  }
};

template <class F>
__device__ __forceinline__ LargestAt largest_of_lane(int lane, int lanes, int begin, int end,
                                                     const F& f) {
  LargestAt best{-1, begin};
  for (int i = begin + lane; i < end; i += lanes) best.take(f(i), i);
  return best;
}

/// A team of `Lanes` lanes of a warp. All teams of the warp go through the same phases.
template <int Lanes>
struct WarpTeam {
  static constexpr int lanes = Lanes;
  int lane;

  template <class F>
  __device__ __forceinline__ void each(const F& f) const {
    f(lane);
    __syncwarp();
  }
  __device__ __forceinline__ int most(int value) const {
    return static_cast<int>(__reduce_max_sync(0xffffffffu, static_cast<unsigned>(value)));
  }
  template <class F>
  __device__ __forceinline__ int largest(int begin, int end, const F& f) const {
    LargestAt best = largest_of_lane(lane, lanes, begin, end, f);
#pragma unroll
    for (int distance = Lanes / 2; distance > 0; distance /= 2) {
      const double value = __shfl_xor_sync(0xffffffffu, best.value, distance);
      const int at = __shfl_xor_sync(0xffffffffu, best.at, distance);
      best.take(value, at);
    }
    __syncwarp();
    return best.at;
  }
};

template <int Threads>
struct BlockTeam {
  static constexpr int lanes = Threads;
  int lane;

  template <class F>
  __device__ __forceinline__ void each(const F& f) const {
    f(lane);
    __syncthreads();
  }
  __device__ __forceinline__ int most(int value) const { return value; }
  template <class F>
  __device__ __forceinline__ int largest(int begin, int end, const F& f) const {
    constexpr int warps = Threads / 32;
    __shared__ double values[warps];
    __shared__ int places[warps];
    LargestAt best = largest_of_lane(lane, lanes, begin, end, f);
#pragma unroll
    for (int distance = 16; distance > 0; distance /= 2) {
      const double value = __shfl_xor_sync(0xffffffffu, best.value, distance);
      const int at = __shfl_xor_sync(0xffffffffu, best.at, distance);
      best.take(value, at);
    }
    if (lane % 32 == 0) {
      values[lane / 32] = best.value;
      places[lane / 32] = best.at;
    }
    __syncthreads();
    for (int warp = 0; warp < warps; ++warp) best.take(values[warp], places[warp]);
    __syncthreads();
    return best.at;
  }
};

/// Inverts each row by `lanes` of the `block` threads of a block; by all of them if `lanes` is
/// `block`.
template <class Plan, int lanes, int block, bool in_shared, class Arguments>
__device__ __forceinline__ void invert_rows(const Arguments& a) {
  extern __shared__ double workspaces[];
  if constexpr (lanes < block) {
    const int team = static_cast<int>(threadIdx.x) / lanes;
    invert_row<Plan>(WarpTeam<lanes>{static_cast<int>(threadIdx.x) % lanes}, a,
                     Offset(blockIdx.x) * (block / lanes) + team,
                     workspaces + Offset(team) * a.words);
  } else {
    const BlockTeam<block> team{static_cast<int>(threadIdx.x)};
    if constexpr (in_shared) {
      invert_row<Plan>(team, a, blockIdx.x, workspaces);
    } else {
      double* const words = a.scratch + Offset(blockIdx.x) * a.words;
      for (Offset row = blockIdx.x; row < a.count; row += gridDim.x) {
        invert_row<Plan>(team, a, row, words);
      }
    }
  }
}

}  // namespace heddle::device
