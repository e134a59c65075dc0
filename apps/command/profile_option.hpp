// --profile: where plans come from that nobody named.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <string>
#include <vector>

#include "plan_text.hpp"
#include "run_files.hpp"

namespace heddle::cli {

/// The profiles that a run reads without being told of them.
void add_known_profiles(RunFiles& files);

class ProfileOption {
 public:
  /// `quiet` is read when there is something to warn of.
  void add_to(CLI::App& command, const bool& quiet);

  bool is_given() const { return !path_.empty(); }
  /// Throws `Error` (usage) where a profile is named and no plan of these texts asks for it.
  void check_use(const std::vector<std::string>& plans) const;
  /// Every profile that the choice of a plan may read.
  void add_inputs(RunFiles& files) const;
  /// Those that the plans of these texts are chosen from; none where each is named. Warnings go to
  /// standard error.
  Profiles profiles_for(const std::vector<std::string>& plans, const Device& device) const;

  /// Warns of what the choice warns of, and acts on it (tuning/planning/plan_attempt.hpp).
  void build(PlanChoice& choice, const std::function<void(const Plan&)>& act,
             const std::function<PlanChoice()>& predict) const;

 private:
  /// On standard error, unless it is to be quiet.
  void warn_of(const std::string& text) const;

  std::string path_;
  const bool* quiet_ = nullptr;
};

}  // namespace heddle::cli
