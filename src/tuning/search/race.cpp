#include "race.hpp"

#include <algorithm>
#include <span>
#include <utility>

namespace heddle {

namespace {

bool is_known(const Interval& median, const Statistics& seconds, const Effort& effort) {
  return median.high - median.low <= 2 * effort.tightness * seconds.median;
}

Measurement measurement_of(std::span<const double> seconds, const Effort& effort) {
  return {statistics_of(seconds), median_interval(seconds, effort.confidence)};
}

}  // namespace

Race::Race(std::unique_ptr<PreparedPlan> reference, const Effort& effort,
           std::function<bool()> goes_on)
    : reference_(std::move(reference)), goes_on_(std::move(goes_on)) {
  for (int run = 1; run <= effort.max_runs && goes_on_(); ++run) {
    turns_.push_back(reference_->run());
    measured_ = measurement_of(turns_, effort);
    if (run >= effort.min_runs && is_known(measured_->median, measured_->seconds, effort)) {
      break;
    }
  }
}

/// Slowness of the machine in a turn: the reference's time around it over its time at first. A
/// running median (Tukey 1977, chapter 7) keeps steps of the speed where they are, is blind to
/// outliers, and adds a third of the noise that the reference's own time of the turn would add.
double Race::slowness(std::size_t turn) const {
  constexpr std::size_t reach = 4;
  const std::size_t begin = turn - std::min(turn, reach);
  const std::size_t end = std::min(turns_.size(), turn + reach + 1);
  std::vector<double> around(turns_.begin() + static_cast<std::ptrdiff_t>(begin),
                             turns_.begin() + static_cast<std::ptrdiff_t>(end));
  std::sort(around.begin(), around.end());
  return detail::quantile(around, 0.5) / measured_->seconds.median;
}

std::optional<Measurement> Race::run(PreparedPlan& candidate, const Effort& effort, double rival) {
  // After that many turns that were each this much slower, no further one is needed.
  constexpr double far_slower = 2;
  constexpr int few_runs = 2;
  const std::size_t first = turns_.size();
  std::vector<double> seconds, corrected;
  for (int run = 1;; ++run) {
    if (!goes_on_()) return {};
    turns_.push_back(reference_->run());
    seconds.push_back(candidate.run());
    corrected.clear();
    for (std::size_t i = 0; i < seconds.size(); ++i) {
      corrected.push_back(seconds[i] / slowness(first + i));
    }
    const Measurement so_far = measurement_of(corrected, effort);
    const bool is_far_slower = run >= few_runs && so_far.seconds.least > far_slower * rival;
    const bool is_slower =
        run >= effort.min_runs && so_far.median.low > (1 + effort.tightness) * rival;
    if (run >= effort.max_runs || is_far_slower || is_slower ||
        (run >= effort.min_runs && is_known(so_far.median, so_far.seconds, effort))) {
      return so_far;
    }
  }
}

}  // namespace heddle
