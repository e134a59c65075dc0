// Signs of a system without a solution, the same for all methods: x grows, and its residual does
// not shrink. For the host and for a GPU.
#pragma once

#include <cmath>

#include "heddle/entries/annotations.hpp"

namespace heddle::detail {

/// If A is singular and b is outside its range, x grows along the null space until b - A x is
/// nothing but the rounding of x: to its precision, such an x is as good as a solution. Two signs
/// distinguish them. The residual of zero is hardly larger; or x has hardly any component along b:
/// x* b is within |x| |b - A x|, so that x* A x, near x* b if x is a solution, is nothing but
/// rounding. If a far smaller earlier iterate is at hand, its residual says more.
template <class T>
struct GrowthInVain {
  T x_b = 0, x_x = 0;  // Re x* b, |x|^2

  /// `size`: |A D x| + |b| for x. `size_of_zero`: the same for zero.
  HEDDLE_INLINE bool is_seen(T norm, T size, T size_of_zero) const {
    constexpr T some = 1e3, far = 1e6;
    if (!(size > some * size_of_zero)) return false;
    if (norm > size_of_zero / 10) return true;
    return size > far * size_of_zero && std::abs(x_b) < 2 * std::sqrt(x_x) * norm;
  }

  /// Takes the squared norms of an x and of an earlier one.
  HEDDLE_INLINE static bool has_grown(T squared, T squared_before) {
    constexpr T hundredfold = 1e4;
    return squared_before > 0 && squared > hundredfold * squared_before;
  }
  HEDDLE_INLINE static bool has_grown_far(T squared, T squared_before) {
    constexpr T millionfold = 1e12;
    return squared_before > 0 && squared > millionfold * squared_before;
  }
};

}  // namespace heddle::detail
