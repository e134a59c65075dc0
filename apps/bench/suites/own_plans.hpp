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

/// One plan, listed once even if it has several roles.
struct OwnPlan {
  std::string text;  // canonical; as written where it cannot be read
  std::optional<Plan> plan;
  std::string failure;  // the reason why it cannot be read
  bool natural = false;
  bool chosen = false;
};

/// The natural plan, the one chosen for the timed objective, and those of `texts`.
std::vector<OwnPlan> own_plans(const AnyMatrix& matrix, const Device& device, Objective objective,
                               const std::vector<std::string>& texts);

/// Adds the measurements under `plans`, given in the same order, to a record: natural, chosen, the
/// one with the least `seconds` as best, all others as tried. A plan without `seconds` is never
/// best.
void add_own_candidates(Record& record, const std::vector<OwnPlan>& plans,
                        const std::vector<Candidate>& measured,
                        const std::function<std::optional<double>(const Candidate&)>& seconds);

}  // namespace heddle::bench
