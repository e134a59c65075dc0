#include "plan_attempt.hpp"

#include "heddle/error.hpp"

namespace heddle {

void act_on(PlanChoice& choice, const std::function<void(const Plan&)>& act,
            const std::function<PlanChoice()>& predict,
            const std::function<void(const std::string&)>& warn) {
  try {
    return act(choice.plan);
  } catch (const Error& error) {
    const bool is_of_the_plan =
        error.kind() == ErrorKind::bad_plan || error.kind() == ErrorKind::memory;
    if (!choice.tuned || !is_of_the_plan) throw;
    const bool is_of_the_values =
        error.kind() == ErrorKind::bad_plan && is_exact(choice.plan.layout.stored);
    warn(std::string(is_of_the_values ? "an exact copy" : "a plan") + " is not used, " +
         choice.reason + ": " + error.what());
    if (is_of_the_values) {
      choice.plan.layout.stored = StoredScalar::own;
      return act_on(choice, act, predict, warn);
    }
  }
  choice = predict();
  act(choice.plan);
}

}  // namespace heddle
