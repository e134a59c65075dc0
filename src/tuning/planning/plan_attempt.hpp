// What becomes of a plan that was chosen and does not run.
#pragma once

#include <functional>
#include <string>

#include "heddle/plan_choice.hpp"

namespace heddle {

/// Runs `act` with the plan of `choice`. Where a profile has told it, and it does not suit or fit
/// after all (bad_plan, memory), `warn` is told, and `choice` becomes the plan without its exact
/// copy where only that was refused, else what `predict` says.
void act_on(PlanChoice& choice, const std::function<void(const Plan&)>& act,
            const std::function<PlanChoice()>& predict,
            const std::function<void(const std::string&)>& warn);

}  // namespace heddle
