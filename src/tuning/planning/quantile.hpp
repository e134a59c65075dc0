// Quantiles of what has been sorted.
#pragma once

#include <algorithm>
#include <cstddef>
#include <span>

namespace heddle::detail {

/// Linear between the neighbouring order statistics; q in [0, 1], of at least one value.
inline double quantile(std::span<const double> sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

}  // namespace heddle::detail
