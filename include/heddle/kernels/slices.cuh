// Sliced storage as a GPU thread sees it: entries, vector entries, and its share of a row.
#pragma once

#include "heddle/entries/encoded.hpp"
#include "heddle/entries/row_product.hpp"
#include "heddle/kernels/arguments.hpp"
#include "heddle/kernels/load.cuh"

namespace heddle::device {

enum Inner { inner_aos, inner_soa, inner_aosoa, inner_aosoa16 };

// `Plan` below is a struct of constants that the host writes into the program:
//   entry, scalar (of fields in memory), lanes (C; 0: known at run time), threads (T; 0: by
//   slice), inner, soa (fields), unroll, load, block, short_columns.

template <class Plan>
__device__ __forceinline__ Offset lanes_of(Index lanes) {
  if constexpr (Plan::lanes != 0) return Plan::lanes;
  return lanes;
}

/// The entry in slot `step + lane`, with `C` lanes per slice and `slots` slots in all.
template <class Plan, int How>
__device__ __forceinline__ typename Plan::entry load_entry(
    const stored_scalar_t<typename Plan::entry>* values, Offset step, int lane, Offset C,
    Offset slots, CachePolicy policy = 0) {
  using E = typename Plan::entry;
  using S = stored_scalar_t<E>;
  constexpr int K = E::components;
  constexpr int W = 16 / int(sizeof(S));
  // Every step of a slice is aligned to 16 bytes.
  constexpr bool aligned = Plan::lanes != 0 && Plan::lanes * K * int(sizeof(S)) % 16 == 0;
  E entry;
  if constexpr (Plan::inner == inner_aos) {
    load_scalars<How, K, 16>(entry.component, values + (step + lane) * K, policy);
  } else if constexpr (Plan::inner == inner_soa) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      load_scalars<How, 1, 8>(entry.component + k, values + k * slots + step + lane, policy);
    }
  } else if constexpr (Plan::inner == inner_aosoa) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      load_scalars<How, 1, 8>(entry.component + k, values + step * K + k * C + lane, policy);
    }
  } else {
    const S* at = values + step * K;
#pragma unroll
    for (int q = 0; q < K / W; ++q) {
      load_scalars<How, W, aligned ? 16 : int(sizeof(S))>(entry.component + q * W,
                                                          at + q * W * C + lane * W, policy);
    }
    if constexpr (K % W != 0) {
      constexpr int first = K - K % W;
      // 16-bit numbers, in as few loads as alignment allows.
      constexpr int rest = K % W * int(sizeof(S));
      constexpr int align = aligned && sizeof(S) == 2 ? rest & -rest : int(sizeof(S));
      load_scalars<How, K % W, align>(entry.component + first, at + first * C + lane * (K % W),
                                      policy);
    }
  }
  return entry;
}

/// Row `row` of a field, in the arithmetic of the entry.
template <class Plan, int How, class V>
__device__ __forceinline__ V load_row(const typename Plan::scalar* data, Offset component_stride,
                                      Offset row) {
  using M = typename Plan::scalar;
  constexpr int K = V::components;
  M raw[K];
  if constexpr (Plan::soa) {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      load_scalars<How, 1, 8>(raw + k, data + row + k * component_stride);
    }
  } else {
    load_scalars<How, K, 16>(raw, data + row * K);
  }
  V v;
#pragma unroll
  for (int k = 0; k < K; ++k) v.component[k] = static_cast<typename V::scalar>(raw[k]);
  return v;
}

template <class Plan, class V>
__device__ __forceinline__ void store_row(typename Plan::scalar* data, Offset component_stride,
                                          Offset row, const V& v) {
  using M = typename Plan::scalar;
  constexpr int K = V::components;
  M raw[K];
#pragma unroll
  for (int k = 0; k < K; ++k) raw[k] = static_cast<M>(v.component[k]);
  if constexpr (Plan::soa) {
#pragma unroll
    for (int k = 0; k < K; ++k) data[row + k * component_stride] = raw[k];
  } else {
    store_scalars<K>(data + row * K, raw);
  }
}

/// A thread's place: the stored row that it works on, and its part of it.
struct Share {
  Index row;
  int length;   // entries of the row
  int thread;   // t of T
  int threads;  // T
  Offset step;  // first slot of the slice
  int lane;
  Index column_base;  // base of the slice; negative where its columns take 32 bits
};

/// The share of lane `g`, counted over the lanes of all slices; `row` is out of range if it has
/// none.
template <class Plan, class S>
__device__ __forceinline__ Share share_of(const Matrix<S>& A, Offset g) {
  Share share;
  const Offset C = lanes_of<Plan>(A.lanes);
  if constexpr (Plan::lanes == 1) {  // CSR
    share.row = static_cast<Index>(g);
    share.thread = 0;
    share.threads = 1;
    share.lane = 0;
    if (g >= A.rows) {
      share.row = A.rows;
      return share;
    }
    share.step = __ldg(A.offset + g);
    share.length = static_cast<int>(__ldg(A.offset + g + 1) - share.step);
    if constexpr (Plan::short_columns) share.column_base = __ldg(A.column_base + g);
    return share;
  }
  const Index slice = Plan::lanes == 0 ? 0 : static_cast<Index>(g / C);
  share.lane = static_cast<int>(Plan::lanes == 0 ? g : g % C);
  share.row = A.rows;
  share.threads = Plan::threads == 0 ? 1 : Plan::threads;  // a constant on every path if it can be
  if (slice >= A.slices) return share;
  if constexpr (Plan::threads == 0) {
    const int T = __ldg(A.threads + slice);
    const Index row = __ldg(A.first_row + slice) + share.lane / T;
    share.threads = T;
    share.thread = share.lane % T;
    if (row >= __ldg(A.first_row + slice + 1)) return share;
    share.row = row;
  } else {
    constexpr int T = Plan::threads;
    share.thread = share.lane % T;
    const Offset row = static_cast<Offset>(slice) * (C / T) + share.lane / T;
    if (row >= A.rows) return share;
    share.row = static_cast<Index>(row);
  }
  share.step = __ldg(A.offset + slice);
  share.length = __ldg(A.row_length + share.row);
  if constexpr (Plan::short_columns) share.column_base = __ldg(A.column_base + slice);
  return share;
}

/// Columns of 32 bits.
struct WideColumns {
  const Index* column;  // one per slot

  template <int How>
  __device__ __forceinline__ Index load(Offset slot, CachePolicy policy = 0) const {
    Index at;
    load_scalars<How, 1, 4>(&at, column + slot, policy);
    return at;
  }
};
/// Columns of one slice in 16 bits.
struct ShortColumns {
  const unsigned short* column;  // one per slot, counted from the base
  Index base;

  template <int How>
  __device__ __forceinline__ Index load(Offset slot, CachePolicy policy = 0) const {
    unsigned short at;
    load_scalars<How, 1, 2>(&at, column + slot, policy);
    return base + at;
  }
};

/// This thread's part of a row: sum over j = t, t + T, ... of a_j x(column_j), where `x` yields
/// rows of x. `How` and `policy` are for loads of the matrix, whose encoding may need the `table`
/// that follows its values. `Plan::unroll` entries are loaded before the first is needed.
template <class Plan, int How, class Columns, class X>
__device__ __forceinline__ result_entry_t<typename Plan::entry> product_of_share(
    const stored_scalar_t<typename Plan::entry>* values,
    const stored_scalar_t<typename Plan::entry>* table, const Columns& columns, Offset C,
    Offset slots, const Share& share, const X& x, CachePolicy policy = 0) {
  using E = typename Plan::entry;
  using V = vector_entry_t<E>;
  constexpr int U = Plan::unroll;
  auto sum = zero_vector<result_entry_t<E>>();
  const int count = share_of_row(share.length, share.thread, share.threads);
  Offset step = share.step;
  int j = 0;
  const auto add_some = [&] {
    Index at[U];
    E a[U];
    V with[U];
#pragma unroll
    for (int u = 0; u < U; ++u) {
      at[u] = columns.template load<How>(step + u * C + share.lane, policy);
    }
#pragma unroll
    for (int u = 0; u < U; ++u)
      a[u] = load_entry<Plan, How>(values, step + u * C, share.lane, C, slots, policy);
#pragma unroll
    for (int u = 0; u < U; ++u) with[u] = x(at[u]);
#pragma unroll
    for (int u = 0; u < U; ++u) multiply_add(sum, load_by<E>(a[u], table), with[u]);
    step += U * C;
  };
  if constexpr (has_small_table<E>) {
    // Decoding leaves no registers for more entries than the plan says.
#pragma unroll 1
    for (; j + U <= count; j += U) add_some();
  } else {
    for (; j + U <= count; j += U) add_some();
  }
  if constexpr (U > 1) {
#pragma unroll 1
    for (; j < count; ++j, step += C) {
      const Index at = columns.template load<How>(step + share.lane, policy);
      const E a = load_entry<Plan, How>(values, step, share.lane, C, slots, policy);
      multiply_add(sum, load_by<E>(a, table), x(at));
    }
  }
  return sum;
}

/// The table of A's encoding, for all threads of a block, which call this together. A small table
/// is copied to shared memory, since a load would queue after those of entries and of x.
template <class E>
__device__ __forceinline__ const stored_scalar_t<E>* near_table(
    const Matrix<stored_scalar_t<E>>& A) {
  const auto* const table = trailing_table<E>(A.values, A.slots);
  if constexpr (has_small_table<E>) {
    constexpr int most = E::table_bytes / int(sizeof(stored_scalar_t<E>));
    __shared__ stored_scalar_t<E> near[most];
    if (threadIdx.x < most) near[threadIdx.x] = table[threadIdx.x];
    __syncthreads();
    return near;
  } else {
    return table;
  }
}

/// Like `product_of_share` above, but for a field in memory, loaded by `HowX`, with the slice's own
/// width of columns.
template <class Plan, int How, int HowX>
__device__ __forceinline__ result_entry_t<typename Plan::entry> product_of_share(
    const Matrix<stored_scalar_t<typename Plan::entry>>& A, const Share& share,
    const stored_scalar_t<typename Plan::entry>* table, const typename Plan::scalar* x,
    Offset x_component_stride, CachePolicy policy) {
  using E = typename Plan::entry;
  using V = vector_entry_t<E>;
  const Offset C = lanes_of<Plan>(A.lanes);
  const auto row_of_x = [=](Index row) {
    return load_row<Plan, HowX, V>(x, x_component_stride, row);
  };
  if constexpr (Plan::short_columns) {
    if (share.column_base >= 0) {
      return product_of_share<Plan, How>(A.values, table,
                                         ShortColumns{A.short_column, share.column_base}, C,
                                         A.slots, share, row_of_x, policy);
    }
  }
  return product_of_share<Plan, How>(A.values, table, WideColumns{A.column}, C, A.slots, share,
                                     row_of_x, policy);
}

/// Adds the T parts of a row in the tree order of the CPU's product; each of the row's threads gets
/// the sum.
template <class Plan, class V>
__device__ __forceinline__ void add_parts(V& part, int threads) {
  if constexpr (Plan::threads == 1 || Plan::lanes == 1) return;
  // All 32 lanes take part in every exchange, even where slices of one warp differ in T.
  constexpr int most = Plan::threads != 0 ? Plan::threads : 32;
#pragma unroll
  for (int distance = most / 2; distance > 0; distance /= 2) {
#pragma unroll
    for (int k = 0; k < V::components; ++k) {
      const auto other = __shfl_xor_sync(0xffffffffu, part.component[k], distance);
      if (Plan::threads != 0 || distance < threads) part.component[k] += other;
    }
  }
}

}  // namespace heddle::device
