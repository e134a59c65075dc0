// Preconditioners whose row of z = M^-1 r depends on that row of r alone. P is the type of one:
//
//   struct P {
//     using vector = ...;           // a row: scalar, components, and component[k], as in fields
//     using Own = ...;              // anything else that a row needs
//     static constexpr bool soa;    // layout of fields
//     static Own load(const void* data, Index rows, Offset row);  // reads what no loop writes
//     static vector apply(const Own&, const vector& r);
//   };
#pragma once

#include "heddle/entries/entry.hpp"
#include "heddle/kernels/loop.cuh"
#include "heddle/kernels/row_arguments.hpp"

namespace heddle::device {

/// The row of this thread in a block of rows.
__device__ __forceinline__ Offset row_of_thread(unsigned block) {
  return Offset(block) * threads_of_rows + threadIdx.x;
}
/// P's data for the thread's row, or for the last row if the thread lies beyond it; empty on a rank
/// without rows.
template <class P>
__device__ __forceinline__ typename P::Own own_of_thread(const void* data, Index rows,
                                                         unsigned block) {
  if (rows == 0) return {};
  const Offset row = row_of_thread(block);
  return P::load(data, rows, row < rows ? row : rows - 1);
}

/// The rows of a block, one per thread, each thread holding K of their scalars. Where a row's
/// scalars are contiguous in memory, adjacent threads take adjacent scalars: one row per thread
/// would write every sector in pieces. In SoA a thread's scalars are a row.
template <class P>
struct RowsOfBlock {
  using V = typename P::vector;
  using T = typename V::scalar;
  static constexpr int K = V::components;
  /// Wide rows stay with their threads, as in SoA: shared memory has no room for them.
  static constexpr int max_bytes = 32768;
  static constexpr bool by_scalars = !P::soa && threads_of_rows * K * int(sizeof(T)) <= max_bytes;
  static constexpr int tile_size = by_scalars ? threads_of_rows * K : 1;

  T* tile;  // in shared memory: row by row
  Offset rows;
  unsigned block;

  __device__ __forceinline__ V load(const T* field) const {
    V scalars;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      scalars.component[k] = exists(k) ? field[place(k)] : T(0);
    }
    return scalars;
  }
  __device__ __forceinline__ void store(T* field, const V& scalars) const {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (exists(k)) field[place(k)] = scalars.component[k];
    }
  }

  /// The thread's row, gathered from the scalars of all threads. Called once per tile.
  __device__ __forceinline__ V row_of(const V& scalars) const {
    if constexpr (!by_scalars) return scalars;
#pragma unroll
    for (int k = 0; k < K; ++k) tile[k * threads_of_rows + threadIdx.x] = scalars.component[k];
    __syncthreads();
    V row;
#pragma unroll
    for (int k = 0; k < K; ++k) row.component[k] = tile[threadIdx.x * K + k];
    return row;
  }
  /// The thread's scalars, gathered from the rows of all threads. Called after `row_of`.
  __device__ __forceinline__ V scalars_of(const V& row) const {
    if constexpr (!by_scalars) return row;
#pragma unroll
    for (int k = 0; k < K; ++k) tile[threadIdx.x * K + k] = row.component[k];
    __syncthreads();
    V scalars;
#pragma unroll
    for (int k = 0; k < K; ++k) scalars.component[k] = tile[k * threads_of_rows + threadIdx.x];
    return scalars;
  }

 private:
  __device__ __forceinline__ Offset place(int k) const {
    if constexpr (P::soa) return k * rows + row_of_thread(block);
    if constexpr (!by_scalars) return row_of_thread(block) * K + k;
    return (Offset(block) * K + k) * threads_of_rows + threadIdx.x;
  }
  __device__ __forceinline__ bool exists(int k) const {
    return by_scalars ? place(k) < rows * K : row_of_thread(block) < rows;
  }
};

/// z = M^-1 r.
template <class P>
__device__ __forceinline__ void apply_rows(const RowArguments& a) {
  using Rows = RowsOfBlock<P>;
  using T = typename Rows::T;
  __shared__ T tile[Rows::tile_size];
  if (a.state != nullptr) {
    follow_kernel_before();
    if (a.state->end != loop_runs) return;
  }
  const Rows rows{tile, a.rows, blockIdx.x};
  const auto own = own_of_thread<P>(a.data, a.rows, blockIdx.x);
  const auto row = rows.row_of(rows.load(static_cast<const T*>(a.r)));
  rows.store(static_cast<T*>(a.z), rows.scalars_of(P::apply(own, row)));
}

}  // namespace heddle::device
