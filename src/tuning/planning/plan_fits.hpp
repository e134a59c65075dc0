// Checks if a plan tuned for one matrix can run for another, as far as that is known before
// anything is built.
#pragma once

#include <string>

#include "heddle/plan_choice.hpp"

namespace heddle {

/// Empty if the plan can run, as far as this sees; a miss is refused during the build. Takes a pass
/// over the lengths of rows, and a sort only where memory is short. `memory` in bytes.
std::string why_it_cannot_run(const Plan& plan, const PlanSubject& subject, Objective objective,
                              const DeviceProperties& device, long long memory);

}  // namespace heddle
