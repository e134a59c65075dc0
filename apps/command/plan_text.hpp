// Plans as people write them: those of docs/reference/plans.md, and changes of the one that is
// chosen.
#pragma once

#include <string>

#include "heddle/plan_choice.hpp"

namespace heddle::cli {

/// Throws for a text that `plan_for` would refuse whatever the matrix.
void check_plan_text(const std::string& text, const Device& device);

/// Whether the plan of the text depends on the matrix: where it is empty, "chosen" or
/// "chosen,key=value,...", or "full" for "chosen".
bool is_chosen(const std::string& text);

/// The plan of `text`; the one that `profiles` choose for the matrix where it is empty or "chosen",
/// or that one changed where it is "chosen,key=value,...". "full," before any of these has reports
/// name every key; "full" alone is "full,chosen".
PlanChoice choice_for(const std::string& text, const PlanSubject& matrix, const Device& device,
                      Objective objective, const Profiles& profiles);
inline PlanChoice choice_for(const std::string& text, const AnyMatrix& matrix, const Device& device,
                             Objective objective, const Profiles& profiles) {
  return choice_for(text, subject_of(matrix), device, objective, profiles);
}
/// The same for solvers whose iterations read the entries as they are: no copy is kept beside them.
PlanChoice choice_without_copy(const std::string& text, const PlanSubject& matrix,
                               const Device& device, Objective objective, const Profiles& profiles);
inline PlanChoice choice_without_copy(const std::string& text, const AnyMatrix& matrix,
                                      const Device& device, Objective objective,
                                      const Profiles& profiles) {
  return choice_without_copy(text, subject_of(matrix), device, objective, profiles);
}
/// As `choice_for`, without any profile.
Plan plan_for(const std::string& text, const AnyMatrix& matrix, const Device& device,
              Objective objective);

}  // namespace heddle::cli
