// The purpose of a plan.
#pragma once

#include <string_view>

#include "heddle/export.hpp"

namespace heddle {

/// The timed work: a product, or the solver iteration in which it will run.
enum class Objective { product, cg, bicgstab };
HEDDLE_EXPORT std::string_view name(Objective objective);
/// Throws `Error` (usage) that lists the names.
HEDDLE_EXPORT Objective parse_objective(std::string_view text);

}  // namespace heddle
