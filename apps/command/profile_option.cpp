#include "profile_option.hpp"

#include <algorithm>
#include <optional>

#include "base/text/environment.hpp"
#include "message.hpp"
#include "tuning/planning/plan_attempt.hpp"

namespace heddle::cli {

void add_known_profiles(RunFiles& files) {
  const std::string named = environment("HEDDLE_PROFILE");
  if (named == "none") return;
  files.reads("HEDDLE_PROFILE", named);
  files.reads("the choice of a plan", profiles_in_folders());
}

void ProfileOption::add_to(CLI::App& command, const bool& quiet) {
  quiet_ = &quiet;
  command
      .add_option("--profile", path_,
                  "a tuning profile to choose the plan from, ahead of all others; none: predict "
                  "the plan and ignore all profiles")
      ->type_name("FILE|none");
}

void ProfileOption::check_use(const std::vector<std::string>& plans) const {
  if (path_.empty() || std::ranges::any_of(plans, is_chosen)) return;
  throw Error(ErrorKind::usage, "--profile chooses a plan, and --plan names one: give one of them");
}

void ProfileOption::add_inputs(RunFiles& files) const {
  if (path_ == "none") return;
  files.reads("--profile", path_);
  add_known_profiles(files);
}

Profiles ProfileOption::profiles_for(const std::vector<std::string>& plans,
                                     const Device& device) const {
  if (!std::ranges::any_of(plans, is_chosen)) return {};
  Profiles profiles =
      Profiles::for_device(device, path_.empty() ? std::nullopt : std::optional(path_));
  for (const std::string& warning : profiles.warnings()) warn_of(warning);
  return profiles;
}

void ProfileOption::build(PlanChoice& choice, const std::function<void(const Plan&)>& act,
                          const std::function<PlanChoice()>& predict) const {
  if (!choice.warning.empty()) warn_of(choice.warning);
  act_on(choice, act, predict, [this](const std::string& text) { warn_of(text); });
}

void ProfileOption::warn_of(const std::string& text) const {
  if (quiet_ == nullptr || !*quiet_) warn(text);
}

}  // namespace heddle::cli
