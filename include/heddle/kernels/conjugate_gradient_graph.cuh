// Conjugate gradient as three kernels an iteration, replayed under a WHILE node: what their last
// blocks do with the sums.
//   1  q = A p, <p, q>              alpha
//   2  r -= alpha q, (z = M^-1 r)   |r|^2, <r, z>, beta, and whether to stop
//   3  x += alpha p, p = z + beta p
#pragma once

#include "heddle/kernels/loop.cuh"
#include "heddle/kernels/reduce.cuh"

namespace heddle::device {

/// Of kernel 1. The first kernel to find the run ended tells kernel 3 that x is complete.
struct SetAlpha {
  template <class Arguments>
  static __device__ __forceinline__ bool skip(const Arguments& arguments) {
    LoopState& state = *static_cast<LoopState*>(arguments.state);
    if (state.end == loop_runs) return false;
    if (blockIdx.x == 0 && threadIdx.x == 0) state.over = 1;
    return true;
  }
  template <class Arguments>
  static __device__ __forceinline__ void finish(const Arguments& arguments,
                                                const double (&total)[1]) {
    LoopState& state = *static_cast<LoopState*>(arguments.state);
    if (total[0] > 0) {
      state.alpha = state.r_z / total[0];
    } else {
      state.end = is_finite(total[0]) ? loop_not_positive : loop_not_finite;
      state.over = 1;
    }
  }
};

/// Of kernel 2: `total` = |r|^2 and <r, z>.
__device__ __forceinline__ void set_beta(LoopState& state, double squared_norm, double r_z) {
  state.beta = r_z / state.r_z;
  state.r_z = r_z;
  const long long iteration = ++state.iteration;
  state.squared_norm = squared_norm;
  state.history[iteration - 1] = squared_norm;
  int end = judged(state.limits, squared_norm, iteration);
  if (end == loop_runs && !(r_z > 0)) end = is_finite(r_z) ? loop_not_definite : loop_not_finite;
  if (end == loop_runs) end = requested_end(state, state.limits.deadline, iteration);
  if (iteration % 16 == 0) {
    state.watch->squared_norm = squared_norm;
    state.watch->iteration = iteration;
  }
  state.end = end;
}

}  // namespace heddle::device
