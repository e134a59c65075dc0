// The product of sliced storage as a kernel, with the operation on each row's sum.
#pragma once

#include "heddle/kernels/loop.cuh"
#include "heddle/kernels/reduce.cuh"
#include "heddle/kernels/slices.cuh"

namespace heddle::device {

template <class Plan>
using ArgumentsOf = ProductArguments<stored_scalar_t<typename Plan::entry>, typename Plan::scalar,
                                     typename result_entry_t<typename Plan::entry>::scalar>;

/// Adds conj(a) b, or a b, in a ring of R components to `sum`; Hamilton's product for R = 4.
template <int R, bool conjugates = true, class V>
__device__ __forceinline__ void add_inner_product(double* sum, const V& a, const V& b) {
  static_assert(conjugates || R < 4);
#pragma unroll
  for (int k = 0; k < V::components; k += R) {
    double p[R], q[R];
#pragma unroll
    for (int c = 0; c < R; ++c) {
      p[c] = a.component[k + c];
      q[c] = b.component[k + c];
    }
    if constexpr (R == 1) {
      sum[0] += p[0] * q[0];
    } else if constexpr (R == 2) {
      const double imaginary = conjugates ? p[1] : -p[1];
      sum[0] += p[0] * q[0] + imaginary * q[1];
      sum[1] += p[0] * q[1] - imaginary * q[0];
    } else {
      sum[0] += p[0] * q[0] + p[1] * q[1] + p[2] * q[2] + p[3] * q[3];
      sum[1] += p[0] * q[1] - p[1] * q[0] - p[2] * q[3] + p[3] * q[2];
      sum[2] += p[0] * q[2] + p[1] * q[3] - p[2] * q[0] - p[3] * q[1];
      sum[3] += p[0] * q[3] - p[1] * q[2] + p[2] * q[1] - p[3] * q[0];
    }
  }
}

/// The epilogue's operation on the sum of a row.
template <class Plan, class Arguments, class R, int N>
__device__ __forceinline__ void finish_row(const Arguments& a, typename Plan::scalar* y,
                                           const typename Plan::scalar* other, Index row, R& sum,
                                           double (&sums)[N]) {
  if constexpr (Plan::epilogue == store_scaled) {
#pragma unroll
    for (int k = 0; k < R::components; ++k) sum.component[k] *= a.alpha;
    if (a.beta != 0) {
      const R old = load_row<Plan, load_coherent, R>(y, a.y_component_stride, row);
#pragma unroll
      for (int k = 0; k < R::components; ++k) sum.component[k] += a.beta * old.component[k];
    }
  } else {
    const R with = load_row<Plan, load_coherent, R>(other, a.y_component_stride, row);
    if constexpr (Plan::epilogue == store_residual) {
#pragma unroll
      for (int k = 0; k < R::components; ++k) {
        sum.component[k] = with.component[k] - sum.component[k];
        sums[0] += double(sum.component[k]) * double(sum.component[k]);
      }
    } else if constexpr (Plan::epilogue == store_and_dot) {
      add_inner_product<1>(sums, with, sum);
    } else if constexpr (Plan::epilogue == store_and_plain_dot) {
      add_inner_product<Plan::ring, false>(sums, with, sum);
    } else {
      add_inner_product<Plan::ring>(sums, with, sum);
#pragma unroll
      for (int k = 0; k < R::components; ++k) {
        sums[Plan::ring] += double(sum.component[k]) * double(sum.component[k]);
      }
    }
  }
  store_row<Plan>(y, a.y_component_stride, row, sum);
}

/// In a loop the kernel before may still write x when this one begins, so x is not read-only data.
template <class Plan>
inline constexpr int load_of_x = Plan::in_loop ? load_coherent : load_default;

/// The row of y for the sum of a stored row.
template <class Plan>
__device__ __forceinline__ Index row_of(const ArgumentsOf<Plan>& a, const Share& share) {
  return a.A.target != nullptr ? __ldg(a.A.target + share.row) : share.row;
}

/// The table of A that `near_table` returns.
template <class Plan>
using TableOf = const stored_scalar_t<typename Plan::entry>*;

template <class Plan, int N>
__device__ __forceinline__ void product_of_lane(const ArgumentsOf<Plan>& a, const Share& share,
                                                TableOf<Plan> table, CachePolicy policy,
                                                double (&sums)[N]) {
  using R = result_entry_t<typename Plan::entry>;
  R sum = zero_vector<R>();
  if (share.row < a.A.rows) {
    sum = product_of_share<Plan, Plan::load, load_of_x<Plan>>(a.A, share, table, a.x,
                                                              a.x_component_stride, policy);
    scale_sum<typename Plan::entry>(sum, a.A.values, a.A.slots);
  }
  add_parts<Plan>(sum, share.threads);
  if (share.row >= a.A.rows || share.thread != 0) return;
  finish_row<Plan>(a, a.y, a.with, row_of<Plan>(a, share), sum, sums);
}

/// This thread's share of lanes [block * Plan::block, ...) of the whole matrix.
template <class Plan>
__device__ __forceinline__ Share share_in_block(const ArgumentsOf<Plan>& a, unsigned block) {
  return share_of<Plan>(a.A, static_cast<Offset>(block) * Plan::block + threadIdx.x);
}

template <class Plan>
__device__ __forceinline__ void product_of_block(const ArgumentsOf<Plan>& a, unsigned block,
                                                 const Share& share, TableOf<Plan> table) {
  constexpr int N = sums_of(Plan::epilogue, Plan::ring);
  double sums[N == 0 ? 1 : N] = {};
  const CachePolicy policy = policy_of_piece(block, a.kept);
  product_of_lane<Plan>(a, share, table, policy, sums);
  if constexpr (N != 0) store_partials<N, Plan::block>(a.sums, sums, block);
}
template <class Plan>
__device__ __forceinline__ void product_of_block(const ArgumentsOf<Plan>& a, unsigned block,
                                                 TableOf<Plan> table) {
  product_of_block<Plan>(a, block, share_in_block<Plan>(a, block), table);
}

/// `Plan::schedule`: 0 a block of the grid for each block of lanes, 1 static strides, 2 dynamic.
/// `Plan::in_loop`: a kernel of a solver's loop, which does nothing once the loop has ended, and
/// leaves its partial sums to the next kernel.
template <class Plan>
__device__ __forceinline__ void product(const ArgumentsOf<Plan>& a) {
  if constexpr (Plan::in_loop) let_next_kernel_come();
  // No kernel of a loop writes the pattern, so it is read while the kernel before still runs.
  [[maybe_unused]] Share share;
  if constexpr (Plan::schedule == 0) share = share_in_block<Plan>(a, blockIdx.x);
  if constexpr (Plan::in_loop) {
    await_kernel_before();
    if (is_over(*a.state)) return;
  }
  const TableOf<Plan> table = near_table<typename Plan::entry>(a.A);
  if constexpr (Plan::schedule == 0) {
    product_of_block<Plan>(a, blockIdx.x, share, table);
  } else if constexpr (Plan::schedule == 1) {
    for (unsigned block = blockIdx.x; block < a.blocks; block += gridDim.x) {
      product_of_block<Plan>(a, block, table);
    }
  } else {
    __shared__ unsigned taken;
    for (;;) {
      __syncthreads();
      if (threadIdx.x == 0) taken = atomicAdd(a.ticket, unsigned(a.chunk));
      __syncthreads();
      const unsigned first = taken;
      if (first >= a.blocks) break;
      const unsigned last = min(a.blocks, first + unsigned(a.chunk));
      for (unsigned block = first; block < last; ++block) {
        product_of_block<Plan>(a, block, table);
      }
    }
    // The last block to leave resets the counters.
    if (threadIdx.x == 0 && atomicAdd(a.ticket + 1, 1u) == gridDim.x - 1) {
      a.ticket[0] = 0;
      a.ticket[1] = 0;
    }
  }
  constexpr int N = sums_of(Plan::epilogue, Plan::ring);
  if constexpr (N != 0 && !Plan::in_loop) {
    double total[N];
    if (finish_sums<N, Plan::block>(a.sums, a.blocks, total) && threadIdx.x == 0) {
      for (int v = 0; v < N; ++v) a.results[v] = total[v];
    }
  }
}

}  // namespace heddle::device
