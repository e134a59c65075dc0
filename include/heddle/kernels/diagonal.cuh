// The Jacobi preconditioner: inverses of the diagonal entries, kept as one plane per component.
#pragma once

#include "heddle/kernels/product.cuh"
#include "heddle/kernels/rows.cuh"
#include "heddle/kernels/unit_inverse.hpp"

namespace heddle::device {

/// The magnitude of a, without overflow; not a number if a component is not.
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

/// `Plan::epsilon`: rounding of the scalars in which the entry computes.
template <class Plan>
__device__ __forceinline__ void invert_diagonal(
    const InvertArguments<stored_scalar_t<typename Plan::entry>,
                          stored_scalar_t<arithmetic_t<typename Plan::entry>>>& a) {
  using E = typename Plan::entry;
  using D = arithmetic_t<E>;
  const auto& A = a.matrix;
  const Share share = share_of<Plan>(A, Offset(blockIdx.x) * Plan::block + threadIdx.x);
  const Offset C = lanes_of<Plan>(A.lanes);
  constexpr int is_inverted = 1, is_refused = 2;
  small_vector<int, 1> found{{0}};
  Index row = A.rows;
  if (share.row < A.rows) {
    row = A.target != nullptr ? A.target[share.row] : share.row;
    const int count = share_of_row(share.length, share.thread, share.threads);
    Offset step = share.step;
    for (int j = 0; j < count; ++j, step += C) {
      if (A.column[step + share.lane] != row) continue;
      D entry = load(load_entry<Plan, load_default>(A.values, step, share.lane, C, A.slots));
      D inverted;
      const bool is_good = detail::invert_or_unit(
          entry.component, inverted.component, D::components, a.unit,
          [&] { inverted = inverse(entry); },
          [&] { return !(magnitude(entry) * magnitude(inverted) * Plan::epsilon < 1); });
#pragma unroll
      for (int k = 0; k < D::components; ++k) {
        a.inverses[Offset(k) * A.rows + row] = inverted.component[k];
      }
      found.component[0] = is_good ? is_inverted : is_refused;
      break;
    }
  }
  add_parts<Plan>(found, share.threads);
  if (share.row >= A.rows || share.thread != 0 || found.component[0] == is_inverted) return;
  if (found.component[0] == 0 && a.unit != nullptr) {  // a missing entry
    for (int k = 0; k < D::components; ++k) a.inverses[Offset(k) * A.rows + row] = a.unit[k];
    return;
  }
  atomicMin(a.first_singular, a.user_row != nullptr ? a.user_row[row] : row);
}

/// The preconditioner's type P, see rows.cuh: for entries E, over fields in SoA or not.
template <class E, bool is_soa>
struct DiagonalRows {
  using vector = vector_entry_t<E>;
  using Own = arithmetic_t<E>;
  static constexpr bool soa = is_soa;

  /// The inverse at a row.
  __device__ __forceinline__ static Own load(const void* inverses, Index rows, Offset row) {
    Own inverse;
#pragma unroll
    for (int k = 0; k < Own::components; ++k) {
      inverse.component[k] =
          __ldg(static_cast<const stored_scalar_t<Own>*>(inverses) + Offset(k) * rows + row);
    }
    return inverse;
  }
  __device__ __forceinline__ static vector apply(const Own& inverse, const vector& r) {
    auto z = zero_vector<vector>();
    multiply_add(z, inverse, r);
    return z;
  }
};

}  // namespace heddle::device
