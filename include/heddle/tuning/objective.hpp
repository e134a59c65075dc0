// What a plan is to be good for.
#pragma once

#include <string_view>

#include "heddle/export.hpp"

namespace heddle {

/// What is timed: a product, or the solver iteration in which it will run.
enum class Objective { product, cg, bicgstab };
HEDDLE_EXPORT std::string_view name(Objective objective);
/// Throws `Error` (usage) with the names that there are.
HEDDLE_EXPORT Objective parse_objective(std::string_view text);

}  // namespace heddle
