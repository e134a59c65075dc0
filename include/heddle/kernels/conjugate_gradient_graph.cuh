// Conjugate gradient as kernels of a graph that is repeated. A kernel leaves partial sums;
// every block of the kernel that needs them adds them for itself, which takes less time than a
// kernel between the two, or than a last block that all others have to report to.
//
// Two reductions an iteration:
//   1  q = A p, <p, q>
//   2  alpha;  r -= alpha q, (z = M^-1 r), |r|^2, <r, z>
//   3  beta, and whether to stop;  x += alpha p, p = z + beta p
// 2 and 3 may be one kernel whose blocks meet between them and keep r in registers meanwhile.
// One reduction (Chronopoulos and Gear 1989), with z = M^-1 r:
//   1  w = A z, <z, w>
//   2  beta, alpha, and whether to stop;  p = z + beta p, s = w + beta s, x += alpha p,
//      r -= alpha s, (z = M^-1 r), |r|^2, <r, z>
#pragma once

#include "heddle/kernels/loop.cuh"
#include "heddle/kernels/reduce.cuh"

namespace heddle::device {

__device__ __forceinline__ int end_unless_positive(double value, int otherwise) {
  if (value > 0) return loop_runs;
  if (value == 0 && otherwise == loop_not_definite) return loop_lost;
  return is_finite(value) ? otherwise : loop_not_finite;
}

/// What kernel 2 of two reductions begins with, in blocks of `Threads`; false if there is nothing
/// to do. `side` is 0 and 1 in turn.
template <int Threads>
__device__ __forceinline__ bool take_alpha(LoopState& state, int side, const PartialSums& p_q,
                                           double& alpha) {
  follow_kernel_before();
  if (state.over != 0) return false;
  double total[1];
  add_again<1, Threads>(p_q, total);
  StepScalars& step = state.step[side];
  int end = end_unless_positive(total[0], loop_not_positive);
  alpha = end == loop_runs ? step.r_z / total[0] : 0;
  if (end == loop_runs && !(alpha > 0)) end = loop_not_positive;
  if (is_leader()) {
    step.alpha = end == loop_runs ? alpha : 0;
    if (end != loop_runs) set_end(state, end);
  }
  return end == loop_runs;
}

/// After both sums of an iteration: beta, and whether to stop.
__device__ __forceinline__ double conclude_step(LoopState& state, int side, double squared_norm,
                                                double r_z) {
  const double beta = r_z / state.step[side].r_z;
  if (is_leader()) {
    state.step[1 - side].r_z = r_z;
    conclude_iteration(state, squared_norm);
    if (state.end == loop_runs) set_end(state, end_unless_positive(r_z, loop_not_definite));
  }
  return beta;
}

/// Where the blocks of one cooperative launch leave their partial sums for one another.
struct Meeting {
  Packet* packets;            // one for each group of threads
  unsigned long long* round;  // of the last meeting
};

/// The sum over all threads of a cooperative launch of up to 1024 groups, in the tree of
/// `add_again`.
template <int Threads>
__device__ __forceinline__ double meet(const Meeting& meeting, double (&sum)[1]) {
  constexpr int warps_of_group = threads_of_group / 32, strides = 1024;
  constexpr int per_thread = strides / Threads;
  const unsigned long long round = *meeting.round + 1;
  add_over_warps<1, Threads>(sum, warps_of_group);
  if (threadIdx.x < Threads / 32 && threadIdx.x % warps_of_group == 0) {
    send(meeting.packets + blockIdx.x * partials_of_block(Threads) + threadIdx.x / warps_of_group,
         sum[0], round);
  }
  const unsigned count = gridDim.x * partials_of_block(Threads);
  double parts[per_thread];
#pragma unroll
  for (int s = 0; s < per_thread; ++s) {
    const unsigned at = threadIdx.x * per_thread + s;
    parts[s] = at < count ? receive(meeting.packets + at, round) : 0.0;
  }
#pragma unroll
  for (int half = 1; half < per_thread; half *= 2) {
#pragma unroll
    for (int s = 0; s + half < per_thread; s += 2 * half) parts[s] += parts[s + half];
  }
  double total[1] = {parts[0]};
  __shared__ double of_block;
  add_over_warps<1, Threads>(total, 32);
  if (threadIdx.x == 0) of_block = total[0];
  __syncthreads();
  // Every block has read the last round by now: it has sent this one.
  if (is_leader()) *meeting.round = round;
  return of_block;
}

/// What kernel 3 begins with. `sums`: |r|^2, and <r, z> where z is not r.
template <int N, int Threads>
__device__ __forceinline__ bool take_beta(LoopState& state, int side, const PartialSums& sums,
                                          double& alpha, double& beta) {
  follow_kernel_before();
  const StepScalars& step = state.step[side];
  alpha = step.alpha;
  if (state.over != 0 || alpha == 0) return false;
  double total[N];
  add_again<N, Threads>(sums, total);
  beta = conclude_step(state, side, total[0], total[N - 1]);
  return true;
}

/// What kernel 2 of one reduction begins with. `sums` are those that the kernel of the iteration
/// before left; in the first one <r, z> is in the state.
template <int N, int Threads>
__device__ __forceinline__ bool take_step(LoopState& state, int side, const PartialSums& z_w,
                                          const PartialSums& sums, double& alpha, double& beta) {
  follow_kernel_before();
  if (state.over != 0) return false;
  const StepScalars& before = state.step[side];
  const bool first = before.iteration == 0;
  double along[1], total[N] = {};
  add_again<1, Threads>(z_w, along);
  if (!first) add_again<N, Threads>(sums, total);
  const double squared_norm = total[0], r_z = first ? before.r_z : total[N - 1];

  int end = first ? loop_runs : judged(state.limits, squared_norm, before.iteration);
  if (end == loop_runs) end = before.requested;
  if (end == loop_runs) end = end_unless_positive(r_z, loop_not_definite);
  beta = first ? 0 : r_z / before.r_z;
  const double p_q = first ? along[0] : along[0] - beta * r_z / before.alpha;
  if (end == loop_runs) end = end_unless_positive(p_q, loop_not_positive);
  alpha = r_z / p_q;
  if (end == loop_runs && !(alpha > 0)) end = loop_not_positive;
  if (is_leader()) {
    if (!first) record_iteration(state, before.iteration, squared_norm);
    if (end == loop_runs) {
      const long long iteration = before.iteration + 1;
      state.step[1 - side] = {
          r_z, alpha, iteration,
          requested_end(state, state.limits.deadline, iteration, state.limits.unwatched)};
    } else {
      set_end(state, end);
    }
  }
  return end == loop_runs;
}

}  // namespace heddle::device
