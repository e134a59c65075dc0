// What may change of a plan while the matrix stays as it is stored.
#pragma once

#include "heddle/export.hpp"
#include "heddle/plan.hpp"

namespace heddle {

/// Throws `Error` (bad_plan) unless `plan` has a meaning and a matrix that was stored under
/// `stored` lies as it asks for: the layouts are equal.
HEDDLE_EXPORT void check_reschedule(const Plan& stored, const Plan& plan);

}  // namespace heddle
