// Conjugate gradient with one reduction an iteration (Chronopoulos and Gear 1989), one kernel for
// all of them. A block owns rows that follow one another: their part of the matrix lies in its
// shared memory where it fits, their part of r, p, s = A p and x always.
#pragma once

#include "heddle/kernels/loop.cuh"
#include "heddle/kernels/persistent_arguments.hpp"
#include "heddle/kernels/product.cuh"

namespace heddle::device {

// `Plan` has beside what products need: persistent_block (threads), in_shared (the matrix is),
// jacobi, and inverse (the type of a diagonal entry's inverse).

/// The sums over all blocks, in a fixed order, in every thread.
template <int N, int Block>
__device__ __forceinline__ void add_over_grid(Packet* packets, double (&sum)[N],
                                              unsigned long long round) {
  __shared__ double total[N];
  __shared__ double of_block[N][most_blocks];
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
using PersistentArgumentsOf =
    PersistentArguments<stored_scalar_t<typename Plan::entry>, typename Plan::scalar,
                        typename vector_entry_t<typename Plan::entry>::scalar>;

template <class Plan>
__device__ __forceinline__ void conjugate_gradient(const PersistentArgumentsOf<Plan>& a) {
  using E = typename Plan::entry;
  using S = stored_scalar_t<E>;
  using M = typename Plan::scalar;
  using V = vector_entry_t<E>;
  constexpr int K = V::components;
  constexpr int Block = Plan::persistent_block;
  constexpr Offset C = Plan::lanes;
  extern __shared__ __align__(128) unsigned char shared[];

  const Matrix<S>& A = a.matrix;
  const Index slice_begin = a.first_slice[blockIdx.x], slice_end = a.first_slice[blockIdx.x + 1];
  const auto row_of_slice = [&](Index slice) {
    const Offset row = Plan::threads == 0
                           ? A.first_row[slice]
                           : Offset(slice) * (C / (Plan::threads == 0 ? 1 : Plan::threads));
    return row < A.rows ? Index(row) : A.rows;
  };
  const Index row_begin = row_of_slice(slice_begin), row_end = row_of_slice(slice_end);
  const int scalars = (row_end - row_begin) * K;
  const Offset slot_begin = A.offset[slice_begin], slot_end = A.offset[slice_end];

  M* const r = reinterpret_cast<M*>(shared);
  M* const w = r + scalars;
  M* const p = w + scalars;
  M* const s = p + scalars;
  M* const x = s + scalars;
  M* const u = Plan::jacobi ? x + scalars : r;
  const S* values = A.values;
  const Index* column = A.column;
  if constexpr (Plan::in_shared) {
    const unsigned long long vectors = (Plan::jacobi ? 6ull : 5ull) * scalars * sizeof(M);
    S* const own_values = reinterpret_cast<S*>(shared + (vectors + 15) / 16 * 16);
    const Offset slots = slot_end - slot_begin;
    Index* const own_column = reinterpret_cast<Index*>(own_values + slots * E::components);
    for (Offset i = threadIdx.x; i < slots * E::components; i += Block) {
      own_values[i] = A.values[slot_begin * E::components + i];
    }
    for (Offset i = threadIdx.x; i < slots; i += Block) own_column[i] = A.column[slot_begin + i];
    values = own_values - slot_begin * E::components;
    column = own_column - slot_begin;
  }
  const auto in_field = [&](int i) {
    return Plan::soa ? Offset(i % K) * A.rows + row_begin + i / K : Offset(row_begin) * K + i;
  };
  /// u = M^-1 r of this block's rows, for all to read.
  const auto precondition = [&] {
    if constexpr (Plan::jacobi) {
      using D = typename Plan::inverse;
      for (int row = threadIdx.x; row < row_end - row_begin; row += Block) {
        D inverse;
#pragma unroll
        for (int k = 0; k < D::components; ++k) {
          inverse.component[k] = __ldg(a.inverses + Offset(k) * A.rows + row_begin + row);
        }
        V from, to = zero_vector<V>();
#pragma unroll
        for (int k = 0; k < K; ++k) from.component[k] = r[row * K + k];
        multiply_add(to, inverse, from);
#pragma unroll
        for (int k = 0; k < K; ++k) {
          u[row * K + k] = to.component[k];
          a.u[in_field(row * K + k)] = to.component[k];
        }
      }
    } else {
      for (int i = threadIdx.x; i < scalars; i += Block) a.u[in_field(i)] = r[i];
    }
  };

  for (int i = threadIdx.x; i < scalars; i += Block) {
    r[i] = a.r[in_field(i)];
    x[i] = a.x[in_field(i)];
    p[i] = 0;
    s[i] = 0;
  }
  __syncthreads();
  precondition();
  unsigned long long round = *a.round + 1;
  barrier(a.flags, round);

  const auto share_of_block = [&](Offset warp) {
    const Offset g = warp + threadIdx.x % 32;
    Share share = share_of<Plan>(A, g);
    if (g >= slice_end * C) share.row = A.rows;
    return share;
  };
  const Offset lanes_begin = slice_begin * C + threadIdx.x / 32 * 32;
  const Share own = share_of_block(lanes_begin);  // most threads have no other

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
    // Whole warps go round together, for the exchange within a row.
    bool first = true;
    for (Offset warp = lanes_begin; warp < slice_end * C; warp += Block) {
      const Share share = first ? own : share_of_block(warp);
      first = false;
      V part = zero_vector<V>();
      if (share.row < A.rows) {
        part =
            product_of_share<Plan, Plan::in_shared ? load_coherent : load_default, load_coherent>(
                values, column, C, A.slots, share, a.u, A.rows);
      }
      add_parts<Plan>(part, share.threads);
      if (share.row < A.rows && share.thread == 0) {
        const int at = (share.row - row_begin) * K;
#pragma unroll
        for (int k = 0; k < K; ++k) {
          w[at + k] = part.component[k];
          sum[0] += double(r[at + k]) * double(u[at + k]);
          sum[1] += double(part.component[k]) * double(u[at + k]);
          if constexpr (Plan::jacobi) sum[3] += double(r[at + k]) * double(r[at + k]);
        }
      }
    }
    if (blockIdx.x == 0 && threadIdx.x == 0 && iteration > 0)
      sum[2] = requested_end(state, deadline, iteration);
    ++round;
    add_over_grid<N, Block>(a.packets, sum, round);
    const double squared_norm = Plan::jacobi ? sum[N - 1] : sum[0];
    if (blockIdx.x == 0 && threadIdx.x == 0 && iteration > 0) {
      state.history[iteration - 1] = squared_norm;
      // Writes to the host's memory are waited for by the next barrier.
      constexpr long long between = 64;
      if (iteration % between == 0) {
        state.watch->squared_norm = squared_norm;
        state.watch->iteration = iteration;
      }
    }
    if (iteration > 0) end = judged(limits, squared_norm, iteration);
    if (end == loop_runs) end = int(sum[2]);
    if (end == loop_runs && !(sum[0] > 0))
      end = is_finite(sum[0]) ? loop_not_definite : loop_not_finite;
    const double beta = iteration == 0 ? 0 : sum[0] / r_u_before;
    const double p_q = iteration == 0 ? sum[1] : sum[1] - beta * sum[0] / alpha;
    if (end == loop_runs && !(p_q > 0)) end = is_finite(p_q) ? loop_not_positive : loop_not_finite;
    if (end != loop_runs) {
      if (blockIdx.x == 0 && threadIdx.x == 0) {
        state.squared_norm = squared_norm;
        state.iteration = iteration;
        state.end = end;
        *a.round = round;  // everybody has read it before the first barrier
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
      if constexpr (!Plan::jacobi) a.u[in_field(i)] = residual;
    }
    if constexpr (Plan::jacobi) {
      __syncthreads();
      precondition();
    }
    ++iteration;
    ++round;
    barrier(a.flags, round);
  }
  for (int i = threadIdx.x; i < scalars; i += Block) {
    a.r[in_field(i)] = r[i];
    a.x[in_field(i)] = x[i];
  }
}

}  // namespace heddle::device
