#include "heddle/detail/reschedule.hpp"

#include <string>

#include "heddle/error.hpp"

namespace heddle {

void check_reschedule(const Plan& stored, const Plan& plan) {
  check_plan(plan);
  if (stored.layout == plan.layout) return;
  throw Error(ErrorKind::bad_plan, "plan: a matrix stored as " +
                                       to_string(Plan{.layout = stored.layout}) + " is to run as " +
                                       to_string(Plan{.layout = plan.layout}) +
                                       "; another layout means building it again");
}

}  // namespace heddle
