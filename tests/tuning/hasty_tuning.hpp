// A tuner with so few runs that its choices mean nothing.
#pragma once

#include "heddle/tune.hpp"
#include "tuning/search/tuned_matrix.hpp"

namespace heddle::test {

inline TuneOptions hasty(Objective objective) {
  TuneOptions options;
  options.objective = objective;
  options.min_runs = 1;
  options.max_runs = 2;
  return options;
}

/// A CPU with typical ceilings, which need no measuring.
inline detail::TuningDevice cpu_with(
    const detail::MakeTrials& make_trials = detail::trials_on_device, int threads = 2) {
  const Device device = Device::cpu(threads);
  const DeviceProperties properties = properties_of(device);
  return {device, properties, typical_ceilings(properties), make_trials};
}

}  // namespace heddle::test
