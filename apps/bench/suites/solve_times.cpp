#include "solve_times.hpp"

#include <algorithm>
#include <cmath>

namespace heddle::bench {

double tolerance_for(const Problem& problem, const Settings& settings) {
  constexpr double in_single = 1e-3;
  return problem.matrix.precision() == Precision::single_precision
             ? std::max(in_single, settings.tolerance)
             : settings.tolerance;
}

double rounded_up(double residual) {
  const double digit = std::pow(10, std::floor(std::log10(residual)));
  return std::ceil(residual / digit) * digit;
}

void take_difference(const Interleaved& short_ones, const Interleaved& long_ones, double iterations,
                     Candidate& candidate) {
  std::vector<std::vector<double>> pairs(1);
  for (std::size_t r = 0; r < long_ones.seconds.size(); ++r) {
    pairs[0].push_back((long_ones.seconds[r] - short_ones.seconds[r]) / iterations);
  }
  Timing timing = detail::timings_of(pairs)[0];
  timing.median = (long_ones.timing.median - short_ones.timing.median) / iterations;
  if (!(timing.median > 0)) {
    candidate.failure = "the machine was too busy to time an iteration";
    return;
  }
  timing.lower_quartile = std::clamp(timing.lower_quartile, 0.0, timing.median);
  timing.upper_quartile = std::max(timing.upper_quartile, timing.median);
  candidate.seconds = timing;
}

}  // namespace heddle::bench
