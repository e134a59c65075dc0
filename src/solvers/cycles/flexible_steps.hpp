// The lengths of two steps of flexible conjugate gradient from 0 (Notay 2000, SIAM J. Sci. Comput.
// 22(4)), for host and GPU.
#pragma once

#include <type_traits>

#include "heddle/device.hpp"
#include "heddle/entries/annotations.hpp"
#include "heddle/methods/coefficient.hpp"

namespace heddle::detail {

/// Real parts of inner products: of the directions c and d, their images v = A c and w = A d, the
/// right-hand side r, and the rest of r after the first step.
struct FlexibleSums {
  enum Place { c_v, c_r, d_v, d_w, d_rest, count };
};

/// The first step: x = c first, and rest = r - v first. A direction without energy is taken
/// unchanged, as in a V-cycle.
HEDDLE_HD inline double first_step(const double* sums) {
  const double energy = sums[FlexibleSums::c_v];
  return energy > 0 ? sums[FlexibleSums::c_r] / energy : 1;
}

struct TwoSteps {
  double c, d;
};
/// x = c steps.c + d steps.d. The second step is 0 if its direction depends on the first to the
/// rounding of fields of S, for example if one step is exact.
template <class S>
HEDDLE_HD TwoSteps both_steps(const double* sums) {
  constexpr double rounding = std::is_same_v<S, float> ? 1e-6 : 1e-12;
  const double first = first_step(sums), energy = sums[FlexibleSums::c_v];
  const double along = energy > 0 ? sums[FlexibleSums::d_v] / energy : 0;
  const double left = sums[FlexibleSums::d_w] - along * sums[FlexibleSums::d_v];
  if (!(left > rounding * sums[FlexibleSums::d_w])) return {first, 0};
  const double second = sums[FlexibleSums::d_rest] / left;
  return {first - along * second, second};
}

}  // namespace heddle::detail

/// The same numbers on a GPU, from sums in its memory. Defined in builds with CUDA.
namespace heddle::cuda {

/// `*number` = minus the first step, from two sums.
template <class S>
void set_first_step(const double* sums, Coefficient<Ring::real, S>* number, const Stream& stream);

/// Two numbers: both steps, from all sums.
template <class S>
void set_both_steps(const double* sums, Coefficient<Ring::real, S>* numbers, const Stream& stream);

}  // namespace heddle::cuda
