// Signs of a system without a solution, which all methods meet alike: x grows, its residual does
// not shrink. For the host and for a GPU.
#pragma once

#include <cmath>

#include "heddle/entries/annotations.hpp"

namespace heddle::detail {

/// Where A is singular and b out of its reach, x grows along the null space until b - A x is
/// nothing but the rounding of x: to its precision such an x is as good as a solution is. Two signs
/// tell them apart. Zero has hardly a larger residual; or x has hardly anything of b: x* b is
/// within |x| |b - A x|, so that x* A x, near x* b where x is a solution, is nothing but rounding.
/// Where an earlier iterate is at hand that is far smaller, its residual tells more.
template <class T>
struct GrowthInVain {
  T x_b = 0, x_x = 0;  // Re x* b, |x|^2

  /// `size`: |A D x| + |b|, of x, and as much of zero.
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
