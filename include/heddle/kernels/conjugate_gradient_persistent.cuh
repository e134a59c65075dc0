// Conjugate gradient with one reduction per iteration (Chronopoulos and Gear 1989), in one kernel
// for all iterations. A block keeps its part of r, w = A u, p, s = A p, x, and u = M^-1 r with
// Jacobi.
#pragma once

#include "heddle/kernels/persistent.cuh"

namespace heddle::device {

/// The sums over all blocks, in a fixed order, in every thread.
template <int N, int Block>
__device__ __forceinline__ void add_over_grid(Packet* packets, double (&sum)[N],
                                              unsigned long long round) {
  __shared__ double total[N];
  __shared__ double of_block[N][max_blocks];
  add_over_warps<N, Block>(sum, 32);
  if (threadIdx.x == 0) {
#pragma unroll
    for (int v = 0; v < N; ++v) send(packets + 4 * blockIdx.x + v, sum[v], round);
  }
  // Every thread waits for a packet or two, all of them at once: each look at the L2 cache takes
  // longer than all the arithmetic of an iteration.
  for (unsigned i = threadIdx.x; i < N * gridDim.x; i += Block) {
    const unsigned block = i / N, v = i % N;
    of_block[v][block] = receive(packets + 4 * block + v, round);
  }
  __syncthreads();
  const int v = threadIdx.x / 32;
  if (v < N) {
    double mine[1] = {};
    for (unsigned block = threadIdx.x % 32; block < gridDim.x; block += 32) {
      mine[0] += of_block[v][block];
    }
    add_over_lanes(mine);
    if (threadIdx.x % 32 == 0) total[v] = mine[0];
  }
  __syncthreads();
#pragma unroll
  for (int i = 0; i < N; ++i) sum[i] = total[i];
}

template <class Plan>
__device__ __forceinline__ void conjugate_gradient(const PersistentArgumentsOf<Plan>& a) {
  using M = typename Plan::scalar;
  using V = vector_entry_t<typename Plan::entry>;
  constexpr int K = V::components;
  constexpr int Block = Plan::persistent_block;
  extern __shared__ __align__(128) unsigned char shared[];
  if (is_over(*a.state)) return;

  BlockPart<Plan> part = part_of_block<Plan>(a);
  const int scalars = part.scalars;
  M* const r = reinterpret_cast<M*>(shared);
  M* const w = r + scalars;
  M* const p = w + scalars;
  M* const s = p + scalars;
  M* const x = s + scalars;
  M* const u = Plan::jacobi ? x + scalars : r;
  copy_to_shared(part, shared, conjugate_gradient_vectors(Plan::jacobi));
  /// Publishes u = M^-1 r of this block's rows, for all blocks to read.
  const auto publish = [&] {
    if constexpr (Plan::jacobi) {
      for (int row = threadIdx.x; row < part.row_end - part.row_begin; row += Block) {
        V from;
#pragma unroll
        for (int k = 0; k < K; ++k) from.component[k] = r[row * K + k];
        const V to = precondition(a, part, row, from);
#pragma unroll
        for (int k = 0; k < K; ++k) {
          u[row * K + k] = to.component[k];
          a.u[place_in_field(part, row * K + k)] = to.component[k];
        }
      }
    } else {
      for (int i = threadIdx.x; i < scalars; i += Block) a.u[place_in_field(part, i)] = r[i];
    }
  };

  for (int i = threadIdx.x; i < scalars; i += Block) {
    r[i] = a.r[place_in_field(part, i)];
    x[i] = a.x[place_in_field(part, i)];
    p[i] = 0;
    s[i] = 0;
  }
  __syncthreads();
  publish();
  unsigned long long round = *a.round + 1;
  barrier(a.flags, round);

  const Share own = share_of_block(part, first_lane(part));

  LoopState& state = *a.state;
  const LoopLimits limits = state.limits;
  const unsigned long long deadline =
      limits.patience != 0 ? nanoseconds() + limits.patience : limits.deadline;
  double r_u_before = 0, alpha = 0;
  long long iteration = 0;
  int end = loop_runs;
  for (;;) {
    // w = A u;  <r, u>, <w, u>, <r, r>.
    constexpr int N = Plan::jacobi ? 4 : 3;
    double sum[N] = {};
    multiply_rows(
        part, own,
        [&](Index row) { return load_row<Plan, load_coherent, V>(a.u, part.matrix.rows, row); },
        [&](int row, const V& image) {
          const int at = row * K;
#pragma unroll
          for (int k = 0; k < K; ++k) {
            w[at + k] = image.component[k];
            sum[0] += double(r[at + k]) * double(u[at + k]);
            sum[1] += double(image.component[k]) * double(u[at + k]);
            if constexpr (Plan::jacobi) sum[3] += double(r[at + k]) * double(r[at + k]);
          }
        });
    if (blockIdx.x == 0 && threadIdx.x == 0 && iteration > 0)
      sum[2] = requested_end(state, deadline, iteration);
    ++round;
    add_over_grid<N, Block>(a.packets, sum, round);
    const double squared_norm = Plan::jacobi ? sum[N - 1] : sum[0];
    if (blockIdx.x == 0 && threadIdx.x == 0 && iteration > 0) {
      state.history[iteration - 1] = squared_norm;
      // The next barrier waits for writes to the host's memory.
      constexpr long long between = 64;
      if (iteration % between == 0) {
        state.watch->squared_norm = squared_norm;
        state.watch->iteration = iteration;
      }
    }
    if (iteration > 0) end = methods::judged(limits, squared_norm, iteration);
    if (end == loop_runs) end = int(sum[2]);
    if (end == loop_runs && sum[0] == 0) end = loop_lost;
    if (end == loop_runs && !(sum[0] > 0))
      end = methods::is_finite(sum[0]) ? loop_not_definite : loop_not_finite;
    const double beta = iteration == 0 ? 0 : sum[0] / r_u_before;
    const double p_q = iteration == 0 ? sum[1] : sum[1] - beta * sum[0] / alpha;
    if (end == loop_runs && !(p_q > 0))
      end = methods::is_finite(p_q) ? loop_not_positive : loop_not_finite;
    if (end != loop_runs) {
      if (blockIdx.x == 0 && threadIdx.x == 0) {
        state.iteration = iteration;
        state.end = end;
        *a.round = round;  // all blocks have read it before the first barrier
      }
      break;
    }
    r_u_before = sum[0];
    alpha = sum[0] / p_q;
    for (int i = threadIdx.x; i < scalars; i += Block) {
      const M direction = u[i] + M(beta) * p[i];
      const M image = w[i] + M(beta) * s[i];
      p[i] = direction;
      s[i] = image;
      x[i] += M(alpha) * direction;
      const M residual = r[i] - M(alpha) * image;
      r[i] = residual;
      if constexpr (!Plan::jacobi) a.u[place_in_field(part, i)] = residual;
    }
    if constexpr (Plan::jacobi) {
      __syncthreads();
      publish();
    }
    ++iteration;
    ++round;
    barrier(a.flags, round);
  }
  for (int i = threadIdx.x; i < scalars; i += Block) {
    a.r[place_in_field(part, i)] = r[i];
    a.x[place_in_field(part, i)] = x[i];
  }
}

}  // namespace heddle::device
