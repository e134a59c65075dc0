// The product of sliced storage with several fields in a solver's loop, each entry loaded once for
// those whose sums a thread can hold.
#pragma once

#include "heddle/kernels/product.cuh"

namespace heddle::device {

template <class Plan>
using FieldsArgumentsOf =
    ProductsArguments<stored_scalar_t<typename Plan::entry>, typename Plan::scalar,
                      typename result_entry_t<typename Plan::entry>::scalar>;

/// The sums of so many rows fill a quarter of a thread's registers.
template <class Plan>
constexpr int most_fields_at_once() {
  using R = result_entry_t<typename Plan::entry>;
  constexpr int bytes = R::components * int(sizeof(typename R::scalar));
  int fields = most_operands;
  while (fields > 1 && fields * bytes > 256) fields /= 2;
  return fields;
}

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

/// Products with the fields of `F` systems.
template <class Plan, int F>
__device__ __forceinline__ void product_with(const FieldsArgumentsOf<Plan>& a, const int* systems,
                                             const Share& share, CachePolicy policy) {
  using E = typename Plan::entry;
  using V = vector_entry_t<E>;
  using R = result_entry_t<E>;
  using M = typename Plan::scalar;
  const ArgumentsOf<Plan>& all = a.all;
  const M* x[F];
  R sum[F];
#pragma unroll
  for (int f = 0; f < F; ++f) {
    x[f] = static_cast<const M*>(a.of[systems[f]].x);
    sum[f] = zero_vector<R>();
  }
  if (share.row < all.A.rows) {
    const Offset C = lanes_of<Plan>(all.A.lanes);
    const int count = share_of_row(share.length, share.thread, share.threads);
    Offset step = share.step;
    Index next_column = 0;
    E next_entry;
    const auto fetch = [&] {
      load_scalars<Plan::load, 1, 4>(&next_column, all.A.column + step + share.lane, policy);
      next_entry =
          load_entry<Plan, Plan::load>(all.A.values, step, share.lane, C, all.A.slots, policy);
    };
    if (count > 0) fetch();
    for (int j = 0; j < count; ++j) {
      const Index column = next_column;
      const auto entry = load(next_entry);
      step += C;
      if (j + 1 < count) fetch();
      V with[F];
#pragma unroll
      for (int f = 0; f < F; ++f) {
        with[f] = load_row<Plan, load_of_x<Plan>, V>(x[f], all.x_component_stride, column);
      }
#pragma unroll
      for (int f = 0; f < F; ++f) multiply_add(sum[f], entry, with[f]);
    }
  }
  const bool finishes = share.row < all.A.rows && share.thread == 0;
  const Index row = finishes ? row_of<Plan>(all, share) : 0;
#pragma unroll
  for (int f = 0; f < F; ++f) {
    constexpr int N = sums_of(Plan::epilogue, Plan::ring);
    const ProductOperands& of = a.of[systems[f]];
    double sums[N == 0 ? 1 : N] = {};
    add_parts<Plan>(sum[f], share.threads);
    if (finishes) {
      finish_row<Plan>(all, static_cast<M*>(of.y), static_cast<const M*>(of.with), row, sum[f],
                       sums);
    }
    if constexpr (N != 0) store_partials<N, Plan::block>({of.partials, nullptr}, sums, blockIdx.x);
  }
}

/// With those of the systems from `first` on: as many at once as there are, at most F.
template <class Plan, int F>
__device__ __forceinline__ void products_from(const FieldsArgumentsOf<Plan>& a, const int* systems,
                                              int count, const Share& share, CachePolicy policy) {
  while (count >= F) {
    product_with<Plan, F>(a, systems, share, policy);
    systems += F;
    count -= F;
  }
  if constexpr (F > 1) products_from<Plan, F / 2>(a, systems, count, share, policy);
}

/// A block of the grid for each block of lanes.
template <class Plan>
__device__ __forceinline__ void product_of_fields(const FieldsArgumentsOf<Plan>& a) {
  static_assert(Plan::in_loop);
  __shared__ int running[most_operands];
  let_next_kernel_come();
  const Share share = share_in_block<Plan>(a.all, blockIdx.x);
  await_kernel_before();
  const int count = list_of_running(a.of, a.count, running);
  const CachePolicy policy = policy_of_piece(blockIdx.x, a.all.kept);
  products_from<Plan, most_fields_at_once<Plan>()>(a, running, count, share, policy);
}

}  // namespace heddle::device
