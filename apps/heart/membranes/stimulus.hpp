// A current into cells, in pulses.
#pragma once

#include <cmath>

#include "heddle/entries/annotations.hpp"

namespace heddle::heart {

struct Stimulus {
  double start = 0;      // ms
  double duration = 0;   // ms
  double amplitude = 0;  // current over capacitance, mV/ms
  double period = 0;     // ms, from pulse to pulse; 0: there is one pulse
  long long count = 0;   // number of pulses, if there is a period; 0: without end

  /// True if the stimulus acts in the step from `time` to time + dt. It acts in the whole step or
  /// not at all, depending on whether the middle of the step lies in a pulse. A little is added to
  /// the middle, so that rounded times at both ends of a pulse are judged the same way.
  HEDDLE_INLINE bool acts(double time, double dt) const {
    double since = time - start + (0.5 + 1e-6) * dt;
    if (!(since >= 0)) return false;
    if (period > 0) {
      const double pulse = std::floor(since / period);
      if (count > 0 && pulse >= static_cast<double>(count)) return false;
      since -= pulse * period;
    }
    return since < duration;
  }
};

inline constexpr int max_stimuli = 32;

}  // namespace heddle::heart
