#include "heddle/detail/reschedule.hpp"

#include <string>

#include "heddle/error.hpp"

namespace heddle {

void check_reschedule(const Plan& stored, const Plan& plan) {
  check_plan(plan);
  if (same_layout(stored, plan)) return;
  const std::string has = to_string(stored), wants = to_string(plan);
  const auto layout = [](const std::string& text) {
    return text.substr(0, text.find(",schedule="));
  };
  throw Error(ErrorKind::bad_plan, "plan: a matrix stored as " + layout(has) + " is to run as " +
                                       layout(wants) + "; another layout means building it again");
}

}  // namespace heddle
