// The coefficients of a recurrence in a kernel: numbers of R components that act from the right on
// rows of a field, R of their components at a time.
#pragma once

#include "heddle/entries/complex.hpp"
#include "heddle/entries/quaternion.hpp"
#include "heddle/entries/real.hpp"
#include "heddle/kernels/reduce.cuh"

namespace heddle::device {

namespace detail {
template <int R, class S>
struct ring_number;
template <class S>
struct ring_number<1, S> {
  using type = real<S>;
};
template <class S>
struct ring_number<2, S> {
  using type = complex<S>;
};
template <class S>
struct ring_number<4, S> {
  using type = quaternion<S>;
};
}  // namespace detail

template <int R, class S>
using RingNumber = typename detail::ring_number<R, S>::type;

template <int R, class S>
__device__ __forceinline__ RingNumber<R, S> number_at(const S* components) {
  RingNumber<R, S> c;
#pragma unroll
  for (int k = 0; k < R; ++k) c.component[k] = components[k];
  return c;
}

/// a b, where either may be real.
template <class A, class B>
__device__ __forceinline__ auto product_of(const A& a, const B& b) {
  if constexpr (A::components == 1 && B::components != 1) {
    return product_of(b, a);
  } else if constexpr (B::components == 1) {
    A product;
#pragma unroll
    for (int k = 0; k < A::components; ++k) product.component[k] = a.component[k] * b.component[0];
    return product;
  } else {
    A product = A::zero();
    multiply_add(product, a, b);
    return product;
  }
}

/// -c in the precision M of fields.
template <class M, class N>
__device__ __forceinline__ auto minus(const N& c) {
  RingNumber<N::components, M> narrow;
#pragma unroll
  for (int k = 0; k < N::components; ++k) narrow.component[k] = -static_cast<M>(c.component[k]);
  return narrow;
}
template <class M, class N>
__device__ __forceinline__ auto rounded(const N& c) {
  RingNumber<N::components, M> narrow;
#pragma unroll
  for (int k = 0; k < N::components; ++k) narrow.component[k] = static_cast<M>(c.component[k]);
  return narrow;
}

/// Does not use the square, which leaves the range of a double long before the coefficient does.
template <class N>
__device__ __forceinline__ bool is_usable(const N& c) {
  double sum = 0;
#pragma unroll
  for (int k = 0; k < N::components; ++k) sum += fabs(c.component[k]);
  return sum - sum == 0 && sum > 0;
}

/// y += x c, for rows of a field or parts of them.
template <class V, class N>
__device__ __forceinline__ void add_multiple(V& y, const V& x, const N& c) {
  constexpr int R = N::components;
  static_assert(V::components % R == 0, "a row holds whole numbers of the ring");
  if constexpr (R == 1) {
#pragma unroll
    for (int k = 0; k < V::components; ++k) y.component[k] += x.component[k] * c.component[0];
  } else {
#pragma unroll
    for (int first = 0; first < V::components; first += R) {
      auto sum = number_at<R>(y.component + first);
      multiply_add(sum, number_at<R>(x.component + first), c);
#pragma unroll
      for (int k = 0; k < R; ++k) y.component[first + k] = sum.component[k];
    }
  }
}

/// Component c of the sum of conj(a_i) b_i over `scalars` scalars, added by one warp; every lane
/// gets it. It pairs component k of a_i with k ^ c of b_i, by a sign that depends on k alone.
template <int R, class M>
__device__ __forceinline__ double inner_product_of_warp(const M* a, const M* b, int scalars,
                                                        int c) {
  const int lane = threadIdx.x % 32;
  double sum[1] = {};
#pragma unroll 4
  for (int i = lane; i < scalars; i += 32) sum[0] += double(a[i]) * double(b[i ^ c]);
  const int bits_of_sign = (R - c) & (R - 1);
  if (__popc(lane & bits_of_sign) % 2 != 0) sum[0] = -sum[0];
  add_over_lanes(sum);
  return sum[0];
}

}  // namespace heddle::device
