// A device and its clock, for searches over synthetic times.
#pragma once

#include <cstdint>
#include <string>

#include "heddle/tune.hpp"
#include "support/tuning/landscapes.hpp"
#include "support/tuning/synthetic_trials.hpp"

namespace heddle::test {

inline TuningSubject subject_of(Objective objective) {
  return {100000, 100000, 1500000, 72, 8, objective};
}

/// A device, the objective, and the cost of preparing relative to a run: about ten products for a
/// layout, as in the recorded table.
struct SearchSetting {
  std::string name;
  DeviceProperties device;
  Objective objective;
  double seconds = 1e-3, build = 0, prepare = 0;
};

template <class Times>
SyntheticTrials trials_of(const Times& times, const SearchSetting& setting, std::uint64_t seed) {
  SyntheticTrials trials(times, seed);
  trials.seconds_of_build = setting.build;
  trials.seconds_of_prepare = setting.prepare;
  trials.drift_period = 1000 * setting.seconds;
  trials.step_period = 700 * setting.seconds;
  return trials;
}

}  // namespace heddle::test
