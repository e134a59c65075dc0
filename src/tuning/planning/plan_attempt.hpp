// Handles a chosen plan that does not run.
#pragma once

#include <functional>
#include <string>

#include "heddle/plan_choice.hpp"

namespace heddle {

/// Runs `act` with the plan of `choice`. Where that plan came from a profile and does not suit or
/// fit after all (bad_plan, memory), calls `warn`, and `choice` becomes the plan without its exact
/// copy where only that was refused, otherwise the result of `predict`.
void act_on(PlanChoice& choice, const std::function<void(const Plan&)>& act,
            const std::function<PlanChoice()>& predict,
            const std::function<void(const std::string&)>& warn);

}  // namespace heddle
