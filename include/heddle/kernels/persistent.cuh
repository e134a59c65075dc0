// Parts that solvers in one kernel share. A block owns consecutive rows: their part of the matrix
// lies in its shared memory if it fits, their part of the solver's vectors always.
#pragma once

#include "heddle/kernels/loop.cuh"
#include "heddle/kernels/persistent_arguments.hpp"
#include "heddle/kernels/product.cuh"

namespace heddle::device {

// Besides the constants that products need, `Plan` has persistent_block (threads), in_shared (if
// the matrix is), jacobi, and inverse (the type of a diagonal entry's inverse).

template <class Plan>
using PersistentArgumentsOf =
    PersistentArguments<stored_scalar_t<typename Plan::entry>, typename Plan::scalar,
                        typename vector_entry_t<typename Plan::entry>::scalar>;

/// A block's part of the matrix; `values` and `column` are counted from the first slot of all.
template <class Plan>
struct BlockPart {
  using S = stored_scalar_t<typename Plan::entry>;

  const Matrix<S>& matrix;
  const S* values;
  const Index* column;
  Index slice_begin, slice_end, row_begin, row_end;
  int scalars;  // scalars of its rows of a field
};

template <class Plan>
__device__ __forceinline__ BlockPart<Plan> part_of_block(const PersistentArgumentsOf<Plan>& a) {
  constexpr int K = vector_entry_t<typename Plan::entry>::components;
  constexpr Offset C = Plan::lanes;
  const auto& A = a.matrix;
  const auto row_of_slice = [&](Index slice) {
    const Offset row = Plan::threads == 0
                           ? A.first_row[slice]
                           : Offset(slice) * (C / (Plan::threads == 0 ? 1 : Plan::threads));
    return row < A.rows ? Index(row) : A.rows;
  };
  const Index slice_begin = a.first_slice[blockIdx.x], slice_end = a.first_slice[blockIdx.x + 1];
  const Index row_begin = row_of_slice(slice_begin), row_end = row_of_slice(slice_end);
  return {A,         A.values,  A.column, slice_begin,
          slice_end, row_begin, row_end,  (row_end - row_begin) * K};
}

/// Copies the part into shared memory after `vectors` of the block's vectors, if it fits there. All
/// threads have to meet before it is read.
template <class Plan>
__device__ __forceinline__ void copy_to_shared(BlockPart<Plan>& part, unsigned char* shared,
                                               int vectors) {
  if constexpr (Plan::in_shared) {
    using E = typename Plan::entry;
    using S = stored_scalar_t<E>;
    constexpr int Block = Plan::persistent_block;
    const auto& A = part.matrix;
    const Offset slot_begin = A.offset[part.slice_begin], slot_end = A.offset[part.slice_end];
    const unsigned long long bytes =
        static_cast<unsigned long long>(vectors) * part.scalars * sizeof(typename Plan::scalar);
    S* const own_values = reinterpret_cast<S*>(shared + (bytes + 15) / 16 * 16);
    const Offset slots = slot_end - slot_begin;
    // An odd number of 16-bit words is followed by a gap; the launch has 16 bytes for alignment.
    const Offset words = slots * E::components * Offset(sizeof(S)) + Offset(sizeof(Index)) - 1;
    Index* const own_column = reinterpret_cast<Index*>(own_values) + words / Offset(sizeof(Index));
    for (Offset i = threadIdx.x; i < slots * E::components; i += Block) {
      own_values[i] = A.values[slot_begin * E::components + i];
    }
    for (Offset i = threadIdx.x; i < slots; i += Block) own_column[i] = A.column[slot_begin + i];
    part.values = own_values - slot_begin * E::components;
    part.column = own_column - slot_begin;
  }
}

/// The place in a field of scalar i of the block's rows.
template <class Plan>
__device__ __forceinline__ Offset place_in_field(const BlockPart<Plan>& part, int i) {
  constexpr int K = vector_entry_t<typename Plan::entry>::components;
  return Plan::soa ? Offset(i % K) * part.matrix.rows + part.row_begin + i / K
                   : Offset(part.row_begin) * K + i;
}

/// M^-1 r at one of the block's rows.
template <class Plan, class V>
__device__ __forceinline__ V precondition(const PersistentArgumentsOf<Plan>& a,
                                          const BlockPart<Plan>& part, int row, const V& r) {
  using D = typename Plan::inverse;
  D inverse;
#pragma unroll
  for (int k = 0; k < D::components; ++k) {
    inverse.component[k] = __ldg(a.inverses + Offset(k) * part.matrix.rows + part.row_begin + row);
  }
  V z = zero_vector<V>();
  multiply_add(z, inverse, r);
  return z;
}

/// The first lane of this thread's warp among those of all slices.
template <class Plan>
__device__ __forceinline__ Offset first_lane(const BlockPart<Plan>& part) {
  return part.slice_begin * Offset(Plan::lanes) + threadIdx.x / 32 * 32;
}

/// This thread's share when its warp is at lane `warp`.
template <class Plan>
__device__ __forceinline__ Share share_of_block(const BlockPart<Plan>& part, Offset warp) {
  const Offset g = warp + threadIdx.x % 32;
  Share share = share_of<Plan>(part.matrix, g);
  if (g >= part.slice_end * Offset(Plan::lanes)) share.row = part.matrix.rows;
  return share;
}

/// The block's rows of A x, where `x(column)` is a row of x. For each row, counted from the block's
/// first, one thread calls `store(row, sum)`. `own` is the share at the first lane: most threads
/// have no other.
template <class Plan, class X, class Store>
__device__ __forceinline__ void multiply_rows(const BlockPart<Plan>& part, const Share& own,
                                              const X& x, const Store& store) {
  using V = vector_entry_t<typename Plan::entry>;
  constexpr Offset C = Plan::lanes;
  const auto& A = part.matrix;
  // Whole warps iterate together, for the exchange within a row.
  bool first = true;
  for (Offset warp = first_lane(part); warp < part.slice_end * C; warp += Plan::persistent_block) {
    const Share share = first ? own : share_of_block(part, warp);
    first = false;
    V sum = zero_vector<V>();
    if (share.row < A.rows) {
      sum = product_of_share<Plan, Plan::in_shared ? load_coherent : load_default>(
          part.values, trailing_table<typename Plan::entry>(A.values, A.slots),
          WideColumns{part.column}, C, A.slots, share, x);
      scale_sum<typename Plan::entry>(sum, A.values, A.slots);
    }
    add_parts<Plan>(sum, share.threads);
    if (share.row < A.rows && share.thread == 0) store(share.row - part.row_begin, sum);
  }
}

}  // namespace heddle::device
