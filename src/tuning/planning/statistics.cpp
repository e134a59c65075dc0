#include "heddle/tuning/statistics.hpp"

#include <algorithm>
#include <cmath>
#include <numeric>
#include <vector>

namespace heddle {

namespace {

std::vector<double> sorted(std::span<const double> seconds) {
  std::vector<double> values(seconds.begin(), seconds.end());
  std::sort(values.begin(), values.end());
  return values;
}

}  // namespace

double detail::quantile(std::span<const double> sorted, double q) {
  const double at = q * static_cast<double>(sorted.size() - 1);
  const auto below = static_cast<std::size_t>(at);
  const std::size_t above = std::min(below + 1, sorted.size() - 1);
  return sorted[below] + (at - static_cast<double>(below)) * (sorted[above] - sorted[below]);
}

Statistics statistics_of(std::span<const double> seconds) {
  const std::vector<double> values = sorted(seconds);
  return {static_cast<int>(values.size()),
          values.front(),
          detail::quantile(values, 0.25),
          detail::quantile(values, 0.5),
          detail::quantile(values, 0.75),
          values.back(),
          std::accumulate(values.begin(), values.end(), 0.0) / static_cast<double>(values.size())};
}

// Values below the median are distributed like heads in n throws of a coin: the median is below the
// r-th smallest with the probability of fewer than r heads, and likewise above the r-th largest.
Interval median_interval(std::span<const double> seconds, double confidence) {
  const std::vector<double> values = sorted(seconds);
  const std::size_t n = values.size();
  const auto trials = static_cast<double>(n);
  double fewer = 0;  // probability of fewer than r + 1 heads
  std::size_t r = 0;
  for (; 2 * (r + 1) <= n; ++r) {
    const auto heads = static_cast<double>(r);
    fewer += std::exp(std::lgamma(trials + 1) - std::lgamma(heads + 1) -
                      std::lgamma(trials - heads + 1) - trials * std::log(2.0));
    if (1 - 2 * fewer < confidence) break;
  }
  const std::size_t outside = r == 0 ? 0 : r - 1;  // values on either side
  return {values[outside], values[n - 1 - outside]};
}

}  // namespace heddle
