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

/// z = M^-1 r.
template <class Plan>
__device__ __forceinline__ void apply_diagonal(const DiagonalArgumentsOf<Plan>& a) {
  using V = vector_entry_t<typename Plan::entry>;
  if (a.state != nullptr) {
    follow_kernel_before();
    if (a.state->end != loop_runs) return;
  }
  const Offset row = Offset(blockIdx.x) * Plan::block + threadIdx.x;
  if (row >= a.rows) return;
  const V r = load_row<Plan, load_coherent, V>(a.r, a.rows, row);
  store_row<Plan>(a.z, a.rows, row, times(load_inverse<Plan>(a.inverses, a.rows, row), r));
}

/// z = M^-1 r of one row, and what it adds to |r|^2 and Re <r, z>.
template <class Plan, class V, class Inverse, class Arguments>
__device__ __forceinline__ void precondition_row(const Arguments& a, Offset row,
                                                 const Inverse& inverse, const V& r,
                                                 double (&sums)[2]) {
  const V z = times(inverse, r);
  store_row<Plan>(a.z, a.rows, row, z);
#pragma unroll
  for (int k = 0; k < V::components; ++k) {
    sums[0] += double(r.component[k]) * double(r.component[k]);
    sums[1] += double(r.component[k]) * double(z.component[k]);
  }
}

/// r -= alpha q, z = M^-1 r of this thread's row.
template <class Plan, class Inverse, class Arguments>
__device__ __forceinline__ void update_row(const Arguments& a, Offset row, const Inverse& inverse,
                                           double alpha, double (&sums)[2]) {
  using V = vector_entry_t<typename Plan::entry>;
  if (row >= a.rows) return;
  V r = load_row<Plan, load_coherent, V>(a.r, a.rows, row);
  const V q = load_row<Plan, load_coherent, V>(a.q, a.rows, row);
#pragma unroll
  for (int k = 0; k < V::components; ++k) {
    r.component[k] -= static_cast<typename V::scalar>(alpha) * q.component[k];
  }
  store_row<Plan>(a.r, a.rows, row, r);
  precondition_row<Plan>(a, row, inverse, r, sums);
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

/// r -= alpha q, z = M^-1 r;  |r|^2 and Re <r, z>.
template <class Plan>
__device__ __forceinline__ void update_with_diagonal(const DiagonalArgumentsOf<Plan>& a) {
  double sums[2] = {}, total[2];
  const Offset row = row_of_thread<Plan>();
  update_row<Plan>(a, row, inverse_at<Plan>(a, row), a.alpha, sums);
  store_partials<2, Plan::block>(a.sums, sums, blockIdx.x);
  if (finish_sums<2, Plan::block>(a.sums, gridDim.x, total) && threadIdx.x == 0) {
    a.results[0] = total[0];
    a.results[1] = total[1];
  }
}

template <class Plan>
using DiagonalStepArgumentsOf =
    DiagonalStepArguments<typename Plan::scalar,
                          stored_scalar_t<arithmetic_t<typename Plan::entry>>>;

/// Kernel 2 of a graph: r -= alpha q, z = M^-1 r.
template <class Plan>
__device__ __forceinline__ void two_reductions_step(const DiagonalStepArgumentsOf<Plan>& a) {
  const Offset row = row_of_thread<Plan>();
  const auto inverse = inverse_at<Plan>(a, row);  // while the kernel before still runs
  double alpha;
  if (!take_alpha<Plan::block>(*a.state, a.side, a.product, alpha)) return;
  double sums[2] = {};
  update_row<Plan>(a, row, inverse, alpha, sums);
  store_partials<2, Plan::block>({a.partials, nullptr}, sums, blockIdx.x);
}

/// Kernel 2 of a graph: p = z + beta p, s = q + beta s, x += alpha p, r -= alpha s, z = M^-1 r.
template <class Plan>
__device__ __forceinline__ void one_reduction_step(const DiagonalStepArgumentsOf<Plan>& a) {
  using V = vector_entry_t<typename Plan::entry>;
  using T = typename V::scalar;
  const Offset row = row_of_thread<Plan>();
  const auto inverse = inverse_at<Plan>(a, row);  // while the kernel before still runs
  double alpha, beta;
  if (!take_step<2, Plan::block>(*a.state, a.side, a.product, a.before, alpha, beta)) return;
  double sums[2] = {};
  if (row < a.rows) {
    const auto load = [&](const auto* field) {
      return load_row<Plan, load_coherent, V>(field, a.rows, row);
    };
    V r = load(a.r), p = load(a.p), s = load(a.s), x = load(a.x);
    const V q = load(a.q), z = load(a.z);
#pragma unroll
    for (int k = 0; k < V::components; ++k) {
      p.component[k] = z.component[k] + T(beta) * p.component[k];
      s.component[k] = q.component[k] + T(beta) * s.component[k];
      x.component[k] += T(alpha) * p.component[k];
      r.component[k] -= T(alpha) * s.component[k];
    }
    store_row<Plan>(a.p, a.rows, row, p);
    store_row<Plan>(a.s, a.rows, row, s);
    store_row<Plan>(a.x, a.rows, row, x);
    store_row<Plan>(a.r, a.rows, row, r);
    precondition_row<Plan>(a, row, inverse, r, sums);
  }
  store_partials<2, Plan::block>({a.partials, nullptr}, sums, blockIdx.x);
}

}  // namespace heddle::device
