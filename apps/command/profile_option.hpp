// --profile: the source of plans that the caller does not name.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "plan_text.hpp"
#include "run_files.hpp"

namespace heddle::cli {

/// Adds the profiles that a run reads by default.
void add_known_profiles(RunFiles& files);

class ProfileOption {
 public:
  /// `quiet` is read only when there is a warning to print.
  void add_to(CLI::App& command, const bool& quiet);

  bool is_given() const { return !path_.empty(); }
  /// Throws `Error` (usage) if a profile is named and no plan of these texts asks for it.
  void check_use(const std::vector<std::string>& plans) const;
  /// Adds every profile that the choice of a plan may read.
  void add_inputs(RunFiles& files) const;
  /// The profiles that the plans of these texts are chosen from; none if each plan is named.
  /// Warnings go to standard error.
  Profiles profiles_for(const std::vector<std::string>& plans, const Device& device) const;

  /// Prints the warnings of the choice, and acts on it (tuning/planning/plan_attempt.hpp).
  void build(PlanChoice& choice, const std::function<void(const Plan&)>& act,
             const std::function<PlanChoice()>& predict) const;

 private:
  /// Warns on standard error, unless it is to be quiet.
  void warn_of(const std::string& text) const;

  std::string path_;
  const bool* quiet_ = nullptr;
};

}  // namespace heddle::cli
