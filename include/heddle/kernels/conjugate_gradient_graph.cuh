// Conjugate gradient as three kernels an iteration, replayed under a WHILE node: what is done with
// the sums of the first two, by a kernel of one block behind each.
//   1  q = A p, <p, q>              alpha
//   2  r -= alpha q, (z = M^-1 r)   |r|^2, <r, z>, beta, and whether to stop
//   3  x += alpha p, p = z + beta p
#pragma once

#include "heddle/kernels/loop.cuh"
#include "heddle/kernels/reduce.cuh"

namespace heddle::device {

/// Of kernel 1.
struct SetAlpha {
  template <class Arguments>
  static __device__ __forceinline__ bool skip(const Arguments& arguments) {
    return is_over(*static_cast<LoopState*>(arguments.state));
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
  conclude_iteration(state, squared_norm);
  if (state.end == loop_runs && !(r_z > 0)) {
    state.end = is_finite(r_z) ? loop_not_definite : loop_not_finite;
  }
}

}  // namespace heddle::device
