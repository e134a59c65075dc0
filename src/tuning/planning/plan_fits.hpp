// Whether a plan that was tuned for one matrix can run for another one, as far as that is known
// before anything is built.
#pragma once

#include <string>

#include "heddle/plan_choice.hpp"

namespace heddle {

/// Empty where it can, as far as this sees; what is missed here is refused where it is built. Takes
/// a pass over the lengths of rows, a sort only where memory is short. `memory` in bytes.
std::string why_it_cannot_run(const Plan& plan, const PlanSubject& subject, Objective objective,
                              const DeviceProperties& device, long long memory);

}  // namespace heddle
