// Plans as people write them: those of docs/reference/plans.md, and changes to the plan that is
// chosen.
#pragma once

#include <string>

#include "heddle/plan_choice.hpp"

namespace heddle::cli {

/// Throws for a text that `plan_for` would refuse for every matrix.
void check_plan_text(const std::string& text, const Device& device);

/// True if the plan of the text depends on the matrix: the text is empty, "chosen" or
/// "chosen,key=value,...", or has "full" in place of "chosen".
bool is_chosen(const std::string& text);

/// The plan of `text`. If the text is empty or "chosen", this is the plan that `profiles` choose
/// for the matrix; "chosen,key=value,..." changes that plan. With "full," before any of these,
/// reports name every key; "full" alone is "full,chosen".
PlanChoice choice_for(const std::string& text, const PlanSubject& matrix, const Device& device,
                      Objective objective, const Profiles& profiles);
inline PlanChoice choice_for(const std::string& text, const AnyMatrix& matrix, const Device& device,
                             Objective objective, const Profiles& profiles) {
  return choice_for(text, subject_of(matrix), device, objective, profiles);
}
/// Like `choice_for`, for solvers whose iterations read the entries as they are: no second copy of
/// them is kept.
PlanChoice choice_without_copy(const std::string& text, const PlanSubject& matrix,
                               const Device& device, Objective objective, const Profiles& profiles);
inline PlanChoice choice_without_copy(const std::string& text, const AnyMatrix& matrix,
                                      const Device& device, Objective objective,
                                      const Profiles& profiles) {
  return choice_without_copy(text, subject_of(matrix), device, objective, profiles);
}
/// Like `choice_for`, without any profile.
Plan plan_for(const std::string& text, const AnyMatrix& matrix, const Device& device,
              Objective objective);

}  // namespace heddle::cli
