// The Jacobi preconditioner: inverses of the diagonal entries, kept as one plane a component.
#pragma once

#include "heddle/kernels/conjugate_gradient_graph.cuh"
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

template <class Plan>
__device__ __forceinline__ vector_entry_t<typename Plan::entry> times_inverse(
    const DiagonalArgumentsOf<Plan>& a, Index row, const vector_entry_t<typename Plan::entry>& r) {
  using D = arithmetic_t<typename Plan::entry>;
  D inverse;
#pragma unroll
  for (int k = 0; k < D::components; ++k) {
    inverse.component[k] = __ldg(a.inverses + Offset(k) * a.rows + row);
  }
  auto z = zero_vector<vector_entry_t<typename Plan::entry>>();
  multiply_add(z, inverse, r);
  return z;
}

/// z = M^-1 r.
template <class Plan>
__device__ __forceinline__ void apply_diagonal(const DiagonalArgumentsOf<Plan>& a) {
  using V = vector_entry_t<typename Plan::entry>;
  if (a.state != nullptr && a.state->end != loop_runs) return;
  const Offset row = Offset(blockIdx.x) * Plan::block + threadIdx.x;
  if (row >= a.rows) return;
  const V r = load_row<Plan, load_coherent, V>(a.r, a.rows, row);
  store_row<Plan>(a.z, a.rows, row, times_inverse<Plan>(a, static_cast<Index>(row), r));
}

/// r -= alpha q, z = M^-1 r;  |r|^2 and Re <r, z>.
template <class Plan>
__device__ __forceinline__ void update_with_diagonal(const DiagonalArgumentsOf<Plan>& a) {
  using V = vector_entry_t<typename Plan::entry>;
  if (a.state != nullptr && a.state->end != loop_runs) return;
  const auto alpha = static_cast<typename V::scalar>(a.state != nullptr ? a.state->alpha : a.alpha);
  const Offset row = Offset(blockIdx.x) * Plan::block + threadIdx.x;
  double sums[2] = {};
  if (row < a.rows) {
    V r = load_row<Plan, load_coherent, V>(a.r, a.rows, row);
    const V q = load_row<Plan, load_coherent, V>(a.q, a.rows, row);
#pragma unroll
    for (int k = 0; k < V::components; ++k) r.component[k] -= alpha * q.component[k];
    const V z = times_inverse<Plan>(a, static_cast<Index>(row), r);
    store_row<Plan>(a.r, a.rows, row, r);
    store_row<Plan>(a.z, a.rows, row, z);
#pragma unroll
    for (int k = 0; k < V::components; ++k) {
      sums[0] += double(r.component[k]) * double(r.component[k]);
      sums[1] += double(r.component[k]) * double(z.component[k]);
    }
  }
  store_partials<2, Plan::block>(a.sums, sums, blockIdx.x);
  if (a.state != nullptr) return;  // the next kernel takes them from there
  double total[2];
  if (finish_sums<2, Plan::block>(a.sums, gridDim.x, total) && threadIdx.x == 0) {
    a.results[0] = total[0];
    a.results[1] = total[1];
  }
}

}  // namespace heddle::device
