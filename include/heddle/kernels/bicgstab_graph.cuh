// BiCGStab as five kernels an iteration, replayed under a WHILE node: what is done with their
// sums, by a kernel of one block behind each product, by the last block of the others. A preconditioner adds p_hat = M^-1 p before 1 and s_hat = M^-1 s before 3.
//   1  v = A p_hat, <r^, v>               sigma, alpha
//   2  s = r - v alpha, |s|^2             whether half a step is enough
//   3  t = A s_hat, <s, t>, |t|^2         omega
//   4  x += p_hat alpha + s_hat omega,
//      r = s - t omega, |r|^2, <r^, r>    rho, beta, and whether to stop
//   5  p = r + (p - v omega) beta
// s lies where r did. A run that ends in 2 or 3 leaves out the second half: 4 then adds p_hat alpha
// to x, and s is the residual.
#pragma once

#include "heddle/entries/quaternion.hpp"
#include "heddle/kernels/loop.cuh"
#include "heddle/kernels/reduce.cuh"

namespace heddle::device {

// Coefficients are quaternions here: the components that their ring does not have are zero.

__device__ __forceinline__ quaternion<double> read(const double (&c)[4]) {
  return {{c[0], c[1], c[2], c[3]}};
}
__device__ __forceinline__ void write(double (&to)[4], const quaternion<double>& c) {
#pragma unroll
  for (int k = 0; k < 4; ++k) to[k] = c.component[k];
}
__device__ __forceinline__ quaternion<double> product_of(const quaternion<double>& a,
                                                         const quaternion<double>& b) {
  auto product = quaternion<double>::zero();
  multiply_add(product, a, b);
  return product;
}

/// The sum in a ring of R components.
template <int R>
__device__ __forceinline__ quaternion<double> sum_in_ring(const double* sum) {
  auto c = quaternion<double>::zero();
#pragma unroll
  for (int k = 0; k < R; ++k) c.component[k] = sum[k];
  return c;
}

/// Not by its square, which leaves the range of a double long before the coefficient does.
__device__ __forceinline__ bool is_usable(const quaternion<double>& c) {
  double sum = 0;
#pragma unroll
  for (int k = 0; k < 4; ++k) sum += fabs(c.component[k]);
  return is_finite(sum) && sum > 0;
}

/// Of kernel 1: `total` = <r^, v>, |v|^2.
struct SetSigma {
  template <class Arguments>
  static __device__ __forceinline__ bool skip(const Arguments& arguments) {
    return is_over(*static_cast<LoopState*>(arguments.state));
  }
  template <class Arguments, int N>
  static __device__ __forceinline__ void finish(const Arguments& arguments,
                                                const double (&total)[N]) {
    LoopState& state = *static_cast<LoopState*>(arguments.state);
    const auto sigma = sum_in_ring<N - 1>(total);
    const auto rho = read(state.rho);
    if (is_usable(sigma) && is_usable(rho)) {
      write(state.sigma, sigma);
      write(state.ring_alpha, product_of(inverse(sigma), rho));
    } else {
      state.end = loop_lost;
      state.over = 1;
    }
  }
};

/// Of kernel 2. Where s is small enough the second half would divide 0 by 0: identity, diagonal
/// systems.
__device__ __forceinline__ void judge_half_step(LoopState& state, double squared_s) {
  state.squared_norm = squared_s;  // until kernel 4 has another
  if (!(squared_s <= state.limits.target)) return;
  state.half = 1;
  conclude_iteration(state, squared_s);
}

/// Of kernel 3: `total` = <s, t>, |t|^2. Not the first to find the run ended: kernel 4 may have to
/// complete x.
struct SetOmega {
  template <class Arguments>
  static __device__ __forceinline__ bool skip(const Arguments& arguments) {
    return static_cast<const LoopState*>(arguments.state)->end != loop_runs;
  }
  template <class Arguments, int N>
  static __device__ __forceinline__ void finish(const Arguments& arguments,
                                                const double (&total)[N]) {
    LoopState& state = *static_cast<LoopState*>(arguments.state);
    constexpr int R = N - 1;
    auto omega = quaternion<double>::zero();
    omega.component[0] = total[0] / total[R];
    // <t, s> = conj <s, t>. Over quaternions omega stays real, see bicgstab.hpp.
    if constexpr (R == 2) omega.component[1] = -total[1] / total[R];
    if (is_usable(omega)) {
      write(state.omega, omega);
      return;
    }
    state.half = 1;
    conclude_iteration(state, state.squared_norm);
    if (state.end == loop_runs) state.end = loop_orthogonal;
  }
};

/// Of kernel 4: `total` = |r|^2, <r^, r>.
template <int N>
__device__ __forceinline__ void set_ring_beta(LoopState& state, const double (&total)[N]) {
  const auto rho = sum_in_ring<N - 1>(total + 1);
  write(state.ring_beta,
        product_of(product_of(inverse(read(state.sigma)), rho), inverse(read(state.omega))));
  write(state.rho, rho);
  conclude_iteration(state, total[0]);
}

}  // namespace heddle::device
