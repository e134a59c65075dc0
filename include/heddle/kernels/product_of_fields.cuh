// The product of sliced storage with several fields in a solver's loop. Groups of a block's threads
// share its lanes, each group for one or two of the fields. Entries come from memory once, and for
// the other groups from L1; no thread needs so many registers that few threads are there to wait.
#pragma once

#include "heddle/kernels/product.cuh"

namespace heddle::device {

template <class Plan>
using FieldsArgumentsOf =
    ProductsArguments<stored_scalar_t<typename Plan::entry>, typename Plan::scalar,
                      typename result_entry_t<typename Plan::entry>::scalar>;

/// Systems that have not ended, in ascending order, for all threads of a block.
__device__ __forceinline__ int list_of_running(const ProductOperands* of, int count, int* running) {
  __shared__ int found;
  if (threadIdx.x < 32) {
    const int k = static_cast<int>(threadIdx.x);
    const bool runs = k < count && !is_over(*of[k].state);
    const unsigned mask = __ballot_sync(all_lanes, runs);
    if (runs) running[__popc(mask & ((1u << k) - 1))] = k;
    if (k == 0) found = __popc(mask);
  }
  __syncthreads();
  return found;
}

/// One lane's products with the fields of `F` systems; `sums[f]` are those of the epilogue.
template <class Plan, int F, int N>
__device__ __forceinline__ void products_of_lane(const FieldsArgumentsOf<Plan>& a,
                                                 const ProductOperands* const (&of)[F],
                                                 const Share& share, double (&sums)[F][N]) {
  using E = typename Plan::entry;
  using V = vector_entry_t<E>;
  using R = result_entry_t<E>;
  using M = typename Plan::scalar;
  const ArgumentsOf<Plan>& all = a.all;
  R sum[F];
#pragma unroll
  for (int f = 0; f < F; ++f) sum[f] = zero_vector<R>();
  if (share.row < all.A.rows) {
    const Offset C = lanes_of<Plan>(all.A.lanes);
    const auto* const table = trailing_table<E>(all.A.values, all.A.slots);
    const int count = share_of_row(share.length, share.thread, share.threads);
    Offset step = share.step;
    Index next_column = 0;
    E next_entry;
    const auto column_of_slot = [&](Offset slot) {
      if constexpr (Plan::short_columns) {
        const ShortColumns columns{all.A.short_column, share.column_base};
        if (columns.base >= 0) return columns.template load<load_default>(slot);
      }
      return WideColumns{all.A.column}.template load<load_default>(slot);
    };
    const auto fetch = [&] {
      next_column = column_of_slot(step + share.lane);
      next_entry = load_entry<Plan, load_default>(all.A.values, step, share.lane, C, all.A.slots);
    };
    if (count > 0) fetch();
    for (int j = 0; j < count; ++j) {
      const Index column = next_column;
      const auto entry = load_by<E>(next_entry, table);
      step += C;
      if (j + 1 < count) fetch();
      V with[F];
#pragma unroll
      for (int f = 0; f < F; ++f) {
        with[f] = load_row<Plan, load_of_x<Plan>, V>(static_cast<const M*>(of[f]->x),
                                                     all.x_component_stride, column);
      }
#pragma unroll
      for (int f = 0; f < F; ++f) multiply_add(sum[f], entry, with[f]);
    }
#pragma unroll
    for (int f = 0; f < F; ++f) scale_sum<E>(sum[f], all.A.values, all.A.slots);
  }
#pragma unroll
  for (int f = 0; f < F; ++f) add_parts<Plan>(sum[f], share.threads);
  if (share.row >= all.A.rows || share.thread != 0) return;
  const Index row = row_of<Plan>(all, share);
#pragma unroll
  for (int f = 0; f < F; ++f) {
    finish_row<Plan>(all, static_cast<M*>(of[f]->y), static_cast<const M*>(of[f]->with), row,
                     sum[f], sums[f]);
  }
}

/// A block of the grid for each `lanes_of_fields` lanes.
template <class Plan>
__device__ __forceinline__ void product_of_fields(const FieldsArgumentsOf<Plan>& a) {
  static_assert(Plan::in_loop);
  constexpr int groups = threads_of_fields / lanes_of_fields;
  constexpr int sums_of_field = sums_of(Plan::epilogue, Plan::ring);
  constexpr int N = sums_of_field == 0 ? 1 : sums_of_field;
  static_assert(max_operands <= 2 * groups && lanes_of_fields == 64);
  __shared__ int running[max_operands];
  __shared__ double of_warp[threads_of_fields / 32][2][N];
  let_next_kernel_come();
  const int group = static_cast<int>(threadIdx.x) / lanes_of_fields;
  const int lane = static_cast<int>(threadIdx.x) % lanes_of_fields;
  const Share share =
      share_of<Plan>(a.all.A, static_cast<Offset>(blockIdx.x) * lanes_of_fields + lane);
  await_kernel_before();
  const int count = list_of_running(a.of, a.count, running);
  // The fields of a group: its own number, and the one that is `groups` higher.
  const int fields = group + groups < count ? 2 : group < count ? 1 : 0;
  double sums[2][N] = {};
  if (fields == 2) {
    const ProductOperands* const of[2] = {a.of + running[group], a.of + running[group + groups]};
    products_of_lane<Plan>(a, of, share, sums);
  } else if (fields == 1) {
    const ProductOperands* const of[1] = {a.of + running[group]};
    double own[1][N] = {};
    products_of_lane<Plan>(a, of, share, own);
#pragma unroll
    for (int v = 0; v < N; ++v) sums[0][v] = own[0][v];
  }
  if constexpr (sums_of_field != 0) {
    __syncwarp();  // rows of different lengths end their loops at different times
#pragma unroll
    for (int f = 0; f < 2; ++f) {
      add_over_lanes(sums[f]);
      if (threadIdx.x % 32 == 0) {
#pragma unroll
        for (int v = 0; v < N; ++v) of_warp[threadIdx.x / 32][f][v] = sums[f][v];
      }
    }
    __syncthreads();
    // The tree of `store_partials` for a block of as many threads as lanes.
    const int warp = static_cast<int>(threadIdx.x) / 32;
    if (lane < fields) {
      double* const to = a.of[running[group + lane * groups]].partials;
#pragma unroll
      for (int v = 0; v < N; ++v) {
        to[static_cast<unsigned long long>(blockIdx.x) * N + v] =
            of_warp[warp][lane][v] + of_warp[warp + 1][lane][v];
      }
    }
  }
}

}  // namespace heddle::device
