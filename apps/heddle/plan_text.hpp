// Plans as people write them: those of docs/plans.md, and changes of the one that is chosen.
#pragma once

#include <string>

#include "heddle/any_matrix.hpp"
#include "heddle/plan.hpp"

namespace heddle::cli {

/// Throws for a text that `plan_for` would refuse whatever the matrix.
void check_plan_text(const std::string& text, const Device& device);

/// The plan of `text`; the one chosen for the matrix where it is empty, or that one changed where
/// it is "chosen" or "chosen,key=value,...".
Plan plan_for(const std::string& text, const AnyMatrix& matrix, const Device& device);

}  // namespace heddle::cli
