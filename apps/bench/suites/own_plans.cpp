#include "own_plans.hpp"

#include <algorithm>

#include "heddle/error.hpp"
#include "heddle/plan_choice.hpp"
#include "heddle/tuning/search_space.hpp"
#include "plan_text.hpp"

namespace heddle::bench {

Plan natural_plan(const Plan& chosen) {
  Plan plan = natural_layout(chosen);
  plan.layout.stored = StoredScalar::own;
  return plan;
}

std::vector<OwnPlan> own_plans(const AnyMatrix& matrix, const Device& device, Objective objective,
                               const std::vector<std::string>& texts) {
  const Plan chosen = choose_plan(matrix, device, Profiles(), objective);
  std::vector<OwnPlan> plans;
  const auto add = [&](const Plan& plan) -> OwnPlan& {
    const auto found = std::find_if(plans.begin(), plans.end(), [&](const OwnPlan& own) {
      return own.plan && *own.plan == plan;
    });
    if (found != plans.end()) return *found;
    plans.push_back({to_string(plan), plan, "", false, false});
    return plans.back();
  };
  add(natural_plan(chosen)).natural = true;
  add(chosen).chosen = true;
  for (const std::string& text : texts) {
    try {
      add(cli::plan_for(text, matrix, device, objective));
    } catch (const Error& error) {
      plans.push_back({text, {}, error.what(), false, false});
    }
  }
  return plans;
}

void add_own_candidates(Record& record, const std::vector<OwnPlan>& plans,
                        const std::vector<Candidate>& measured,
                        const std::function<std::optional<double>(const Candidate&)>& seconds) {
  const std::size_t none = plans.size();
  std::size_t best = none;
  for (std::size_t i = 0; i < plans.size(); ++i) {
    const auto now = seconds(measured[i]);
    if (now && (best == none || *now < *seconds(measured[best]))) best = i;
  }
  const auto add = [&](std::size_t i, Role role) {
    Candidate candidate = measured[i];
    candidate.role = role;
    candidate.library = "Heddle";
    candidate.method = plans[i].text;
    record.candidates.push_back(std::move(candidate));
  };
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].natural) add(i, Role::natural);
  }
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (plans[i].chosen) add(i, Role::chosen);
  }
  if (best != none) add(best, Role::best);
  for (std::size_t i = 0; i < plans.size(); ++i) {
    if (!plans[i].natural && !plans[i].chosen && i != best) add(i, Role::tried);
  }
}

}  // namespace heddle::bench
