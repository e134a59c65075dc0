// The time of a plan by runs in turn with a reference plan, corrected by it for changes of the
// machine's speed.
#pragma once

#include <cstddef>
#include <functional>
#include <limits>
#include <memory>
#include <optional>
#include <vector>

#include "heddle/tuning/statistics.hpp"
#include "heddle/tuning/trials.hpp"

namespace heddle {

/// Required precision of a median.
struct Effort {
  int min_runs = 5;
  int max_runs = 101;
  double confidence = 0.95;
  double tightness = 0.01;  // relative half width of the interval of a known median
};

struct Measurement {
  Statistics seconds;  // at the machine's speed when the reference was measured
  Interval median;     // encloses the median with the confidence of `Effort`
};

class Race {
 public:
  static constexpr double no_rival = std::numeric_limits<double>::infinity();

  /// Runs the reference by itself until its median is known: the speed to which everything else is
  /// corrected. `goes_on` is called before every turn; if false, the current race ends.
  Race(std::unique_ptr<PreparedPlan> reference, const Effort& effort,
       std::function<bool()> goes_on);

  /// The measurement of the reference by itself; none if it could not run once.
  const std::optional<Measurement>& reference() const { return measured_; }

  /// Ends when the median is known, or surely above `rival` seconds, or after the most runs. None
  /// where `goes_on` ended it.
  std::optional<Measurement> run(PreparedPlan& candidate, const Effort& effort,
                                 double rival = no_rival);

 private:
  double slowness(std::size_t turn) const;

  std::unique_ptr<PreparedPlan> reference_;
  std::function<bool()> goes_on_;
  std::vector<double> turns_;  // the reference's seconds in each turn so far
  std::optional<Measurement> measured_;
};

}  // namespace heddle
