// Decides which right-hand sides a solve scales before it squares anything; for the host and for a
// GPU.
#pragma once

#include <cmath>
#include <limits>

#include "heddle/entries/annotations.hpp"

namespace heddle::detail {

/// Norms of b from the fourth root of the smallest scalar to that of the largest are left unscaled:
/// the residual may shrink by many digits, and the coefficients of a recurrence are multiplied by
/// |A|.
template <class T>
struct ScaleRange {
  T least = 0;  // |b|^2
  T most = 0;
  T max_exponent = 0;  // the scale and its inverse are normal numbers

  HEDDLE_INLINE bool holds(T squared_norm) const {
    return squared_norm > least && squared_norm < most;
  }
  /// Minus the exponent of the scale, a power of two that brings the largest component near 1.
  HEDDLE_INLINE T exponent(T largest) const {
    const T wanted = std::floor(std::log2(largest));
    if (wanted > max_exponent) return max_exponent;
    return wanted < -max_exponent ? -max_exponent : wanted;
  }
};

/// The range for fields of S, whose squares are summed in T.
template <class S, class T>
ScaleRange<T> scale_range() {
  constexpr int exponent = std::numeric_limits<S>::max_exponent, of_squares = exponent / 2;
  constexpr int margin = 8;
  return {std::exp2(T(-of_squares)), std::exp2(T(of_squares)), T(exponent - margin)};
}

}  // namespace heddle::detail
