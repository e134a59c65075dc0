// BiCGStab as five kernels an iteration of a graph that is repeated. A preconditioner adds
// p_hat = M^-1 p before 1 and s_hat = M^-1 s before 3. A kernel leaves partial sums; every block of
// the kernel that needs them adds them for itself.
//   1  v = A p_hat, <r^, v>
//   2  sigma, alpha;  s = r - v alpha, |s|^2
//   3  t = A s_hat, <s, t>, |t|^2
//   4  omega;  x += p_hat alpha + s_hat omega, r = s - t omega, |r|^2, <r^, r>
//   5  rho, beta, and whether to stop;  p = r + (p - v omega) beta
// s lies where r did. Where |s| is small enough, or omega is of no use, 4 only adds p_hat alpha to
// x: s is the residual, and the run ends.
#pragma once

#include "heddle/kernels/loop.cuh"
#include "heddle/kernels/reduce.cuh"
#include "heddle/kernels/ring.cuh"

namespace heddle::device {

// Coefficients are quaternions here: the components that their ring does not have are zero.

__device__ __forceinline__ quaternion<double> read(const double (&c)[4]) {
  return {{c[0], c[1], c[2], c[3]}};
}
__device__ __forceinline__ void write(double (&to)[4], const quaternion<double>& c) {
#pragma unroll
  for (int k = 0; k < 4; ++k) to[k] = c.component[k];
}

/// The sum in a ring of R components.
template <int R>
__device__ __forceinline__ quaternion<double> sum_in_ring(const double* sum) {
  auto c = quaternion<double>::zero();
#pragma unroll
  for (int k = 0; k < R; ++k) c.component[k] = sum[k];
  return c;
}

/// What kernel 2 begins with, in blocks of `Threads`; false if there is nothing to do. `sums`:
/// <r^, v> in a ring of R components, |v|^2.
template <int R, int Threads>
__device__ __forceinline__ bool take_alpha(LoopState& state, const PartialSums& sums,
                                           quaternion<double>& alpha) {
  follow_kernel_before();
  if (state.over != 0) return false;
  double total[R + 1];
  add_again<R + 1, Threads>(sums, total);
  const auto sigma = sum_in_ring<R>(total), rho = read(state.rho);
  const bool usable = is_usable(sigma) && is_usable(rho);
  alpha = usable ? product_of(inverse(sigma), rho) : quaternion<double>::zero();
  if (is_leader()) {
    if (usable) {
      write(state.sigma, sigma);
      write(state.alpha, alpha);
    } else {
      set_end(state, loop_lost);
    }
  }
  return usable;
}

/// What kernel 4 does of the step.
enum StepTaken { no_step, half_a_step, whole_step };

/// What kernel 4 begins with. `of_s`: |s|^2; `of_t`: <s, t>, |t|^2.
template <int R, int Threads>
__device__ __forceinline__ StepTaken take_omega(LoopState& state, const PartialSums& of_s,
                                                const PartialSums& of_t, quaternion<double>& alpha,
                                                quaternion<double>& omega) {
  follow_kernel_before();
  if (state.over != 0) return no_step;
  double squared_s[1], total[R + 1];
  add_again<1, Threads>(of_s, squared_s);
  add_again<R + 1, Threads>(of_t, total);
  alpha = read(state.alpha);
  omega = quaternion<double>::zero();
  omega.component[0] = total[0] / total[R];
  // <t, s> = conj <s, t>. Over quaternions omega stays real, see bicgstab.hpp.
  if constexpr (R == 2) omega.component[1] = -total[1] / total[R];
  // Where s is small enough omega may be 0 by 0: identity, diagonal systems.
  const bool half = squared_s[0] <= state.limits.target || !is_usable(omega);
  if (is_leader()) {
    if (half) {
      state.half = 1;
      conclude_iteration(state, squared_s[0]);
      if (state.end == loop_runs) set_end(state, loop_orthogonal);
    } else {
      write(state.omega, omega);
    }
  }
  return half ? half_a_step : whole_step;
}

/// What kernel 5 begins with. `sums`: |r|^2, <r^, r>.
template <int R, int Threads>
__device__ __forceinline__ bool take_beta(LoopState& state, const PartialSums& sums,
                                          quaternion<double>& omega, quaternion<double>& beta) {
  follow_kernel_before();
  if (state.over != 0 || state.half != 0) return false;
  double total[R + 1];
  add_again<R + 1, Threads>(sums, total);
  const auto rho = sum_in_ring<R>(total + 1);
  omega = read(state.omega);
  beta = product_of(product_of(inverse(read(state.sigma)), rho), inverse(omega));
  if (is_leader()) {
    write(state.rho, rho);
    conclude_iteration(state, total[0]);
  }
  return true;
}

}  // namespace heddle::device
