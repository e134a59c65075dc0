// The Jacobi preconditioner: inverses of the diagonal entries, kept as one plane a component.
#pragma once

#include "heddle/kernels/diagonal_arguments.hpp"
#include "heddle/kernels/product.cuh"

namespace heddle::device {

/// |a| without overflow; not a number where a component is none.
template <class A>
__device__ __forceinline__ double magnitude(const A& a) {
  double largest = 0, sum = 0;
#pragma unroll
  for (int k = 0; k < A::components; ++k) largest = fmax(largest, fabs(double(a.component[k])));
  if (!(largest > 0)) {
    for (int k = 0; k < A::components; ++k) sum += double(a.component[k]);
    return sum;
  }
#pragma unroll
  for (int k = 0; k < A::components; ++k) {
    const double scaled = double(a.component[k]) / largest;
    sum += scaled * scaled;
  }
  return largest * sqrt(sum);
}

/// `Plan::epsilon`: of the scalars in which the entry computes.
template <class Plan>
__device__ __forceinline__ void invert_diagonal(
    const InvertArguments<stored_scalar_t<typename Plan::entry>,
                          stored_scalar_t<arithmetic_t<typename Plan::entry>>>& a) {
  using E = typename Plan::entry;
  using D = arithmetic_t<E>;
  const auto& A = a.matrix;
  const Share share = share_of<Plan>(A, Offset(blockIdx.x) * Plan::block + threadIdx.x);
  const Offset C = lanes_of<Plan>(A.lanes);
  small_vector<int, 1> found{{0}};
  Index row = A.rows;
  if (share.row < A.rows) {
    row = A.target != nullptr ? A.target[share.row] : share.row;
    const int count = share_of_row(share.length, share.thread, share.threads);
    Offset step = share.step;
    for (int j = 0; j < count; ++j, step += C) {
      if (A.column[step + share.lane] != row) continue;
      const D entry = load(load_entry<Plan, load_default>(A.values, step, share.lane, C, A.slots));
      const D inverted = inverse(entry);
#pragma unroll
      for (int k = 0; k < D::components; ++k) {
        a.inverses[Offset(k) * A.rows + row] = inverted.component[k];
      }
      found.component[0] = magnitude(entry) * magnitude(inverted) * Plan::epsilon < 1;
      break;
    }
  }
  add_parts<Plan>(found, share.threads);
  if (share.row < A.rows && share.thread == 0 && found.component[0] == 0) {
    atomicMin(a.first_singular, a.user_row != nullptr ? a.user_row[row] : row);
  }
}

template <class Plan>
using DiagonalArgumentsOf =
    DiagonalArguments<typename Plan::scalar, stored_scalar_t<arithmetic_t<typename Plan::entry>>>;

/// The inverse at a row; no kernel of a loop writes any.
template <class Plan, class D>
__device__ __forceinline__ arithmetic_t<typename Plan::entry> load_inverse(const D* inverses,
                                                                           Index rows, Offset row) {
  arithmetic_t<typename Plan::entry> inverse;
#pragma unroll
  for (int k = 0; k < decltype(inverse)::components; ++k) {
    inverse.component[k] = __ldg(inverses + Offset(k) * rows + row);
  }
  return inverse;
}
template <class E>
__device__ __forceinline__ vector_entry_t<E> times(const E& inverse, const vector_entry_t<E>& r) {
  auto z = zero_vector<vector_entry_t<E>>();
  multiply_add(z, inverse, r);
  return z;
}

template <class Plan>
__device__ __forceinline__ Offset row_of_thread() {
  return Offset(blockIdx.x) * Plan::block + threadIdx.x;
}
/// The inverse at a row, or at the last one, whatever the row.
template <class Plan, class Arguments>
__device__ __forceinline__ arithmetic_t<typename Plan::entry> inverse_at(const Arguments& a,
                                                                         Offset row) {
  return load_inverse<Plan>(a.inverses, a.rows, row < a.rows ? row : a.rows - 1);
}

/// The rows of a block, as many as it has threads, each thread holding K of their scalars. Where a
/// row's scalars follow one another in memory, these are scalars that threads side by side take
/// side by side: a row for each thread would write every sector in pieces. In SoA they are a row.
template <class Plan>
struct RowsOfBlock {
  using M = typename Plan::scalar;
  using V = vector_entry_t<typename Plan::entry>;
  using T = typename V::scalar;
  static constexpr int K = V::components;
  /// Wide rows stay with their threads, as they do in SoA: shared memory has no room for them.
  static constexpr int most_bytes = 32768;
  static constexpr bool by_scalars = !Plan::soa && Plan::block * K * int(sizeof(T)) <= most_bytes;
  static constexpr int tile_size = by_scalars ? Plan::block * K : 1;

  T* tile;  // in shared memory: row by row
  Offset rows;

  __device__ __forceinline__ V load(const M* field) const {
    V scalars;
#pragma unroll
    for (int k = 0; k < K; ++k) {
      scalars.component[k] = exists(k) ? static_cast<T>(field[place(k)]) : T(0);
    }
    return scalars;
  }
  __device__ __forceinline__ void store(M* field, const V& scalars) const {
#pragma unroll
    for (int k = 0; k < K; ++k) {
      if (exists(k)) field[place(k)] = static_cast<M>(scalars.component[k]);
    }
  }

  /// The thread's row, of the scalars of all threads. Once for a tile.
  __device__ __forceinline__ V row_of(const V& scalars) const {
    if constexpr (!by_scalars) return scalars;
#pragma unroll
    for (int k = 0; k < K; ++k) tile[k * Plan::block + threadIdx.x] = scalars.component[k];
    __syncthreads();
    V row;
#pragma unroll
    for (int k = 0; k < K; ++k) row.component[k] = tile[threadIdx.x * K + k];
    return row;
  }
  /// The thread's scalars, of the rows of all threads; after `row_of`.
  __device__ __forceinline__ V scalars_of(const V& row) const {
    if constexpr (!by_scalars) return row;
#pragma unroll
    for (int k = 0; k < K; ++k) tile[threadIdx.x * K + k] = row.component[k];
    __syncthreads();
    V scalars;
#pragma unroll
    for (int k = 0; k < K; ++k) scalars.component[k] = tile[k * Plan::block + threadIdx.x];
    return scalars;
  }

 private:
  __device__ __forceinline__ Offset place(int k) const {
    if constexpr (Plan::soa) return k * rows + row_of_thread<Plan>();
    if constexpr (!by_scalars) return row_of_thread<Plan>() * K + k;
    return (Offset(blockIdx.x) * K + k) * Plan::block + threadIdx.x;
  }
  __device__ __forceinline__ bool exists(int k) const {
    return by_scalars ? place(k) < rows * K : row_of_thread<Plan>() < rows;
  }
};

/// z = M^-1 r.
template <class Plan>
__device__ __forceinline__ void apply_diagonal(const DiagonalArgumentsOf<Plan>& a) {
  using Rows = RowsOfBlock<Plan>;
  __shared__ typename Rows::T tile[Rows::tile_size];
  if (a.state != nullptr) {
    follow_kernel_before();
    if (a.state->end != loop_runs) return;
  }
  const Rows rows{tile, a.rows};
  const auto inverse = inverse_at<Plan>(a, row_of_thread<Plan>());
  rows.store(a.z, rows.scalars_of(times(inverse, rows.row_of(rows.load(a.r)))));
}

}  // namespace heddle::device
