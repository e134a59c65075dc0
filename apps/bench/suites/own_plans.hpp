// The plans under which Heddle runs a problem, and its candidates in a record.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "heddle/plan.hpp"
#include "heddle/tuning/objective.hpp"
#include "problems/problem.hpp"
#include "records/record.hpp"

namespace heddle::bench {

/// CSR in AoS, with vectors in AoS, under the schedule of the chosen plan.
Plan natural_plan(const Plan& chosen);

/// One plan, once, whatever it is there for.
struct OwnPlan {
  std::string text;  // canonical; as it was written where it cannot be read
  std::optional<Plan> plan;
  std::string failure;  // why it cannot
  bool natural = false;
  bool chosen = false;
};

/// The natural plan, the one chosen for what is timed, and those of `texts`.
std::vector<OwnPlan> own_plans(const AnyMatrix& matrix, const Device& device, Objective objective,
                               const std::vector<std::string>& texts);

/// Adds what was measured under each of `plans`, in the same order, to a record: natural, chosen,
/// the one for which `seconds` is least as best, all others as tried. Nothing is best of which
/// `seconds` says nothing.
void add_own_candidates(Record& record, const std::vector<OwnPlan>& plans,
                        const std::vector<Candidate>& measured,
                        const std::function<std::optional<double>(const Candidate&)>& seconds);

}  // namespace heddle::bench
