// Adaptive steps of Newton's scheme: the error of each is estimated from its potential and those of
// the steps before it.
#pragma once

#include <vector>

#include "newton_scheme.hpp"
#include "step_lengths.hpp"

namespace heddle::heart {

class AdaptiveSteps {
 public:
  using Number = real<double>;

  /// Steps are `unit` ms long, or 2, 4 ... `most` times that. Keeps a reference to the scheme.
  AdaptiveSteps(NewtonScheme& scheme, double unit, double tolerance, long long most);

  /// Tries steps, the longest of at most `room` units, until one is within the tolerance, or takes
  /// one unit. Returns its length in units, before the scheme's `keep_step`. Waits for each.
  long long try_step(long long room);
  /// The length that it would try first.
  long long next(long long room) const { return lengths_.first(room); }
  void begin_again() { lengths_.begin_again(); }
  const StepCounts& counts() const { return lengths_.counts(); }

  /// The largest error of backward Euler in the scheme's step of `step` ms, in mV: V'' step^2 / 2.
  /// V'' step is the difference of V' at both ends, which backward Euler makes the changes over
  /// time of this step and of the one before it, whatever its length.
  double error_of(double step);

  /// Later steps depend on these: rates in mV/ms at the nodes, and the next length.
  std::vector<double> rates() const;
  double next_length() const { return static_cast<double>(lengths_.wish()); }
  void resume(const std::vector<double>& rates, double next_length);

 private:
  NewtonScheme& scheme_;
  double unit_;
  StepLengths lengths_;
  Field<Number> rate_, change_, difference_;
  Reduction<double> of_nodes_;
};

}  // namespace heddle::heart
