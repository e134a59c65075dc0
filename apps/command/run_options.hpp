// How a program runs, whatever it computes: device, plan, profile, and who is told of it.
#pragma once

#include <CLI/CLI.hpp>
#include <functional>
#include <memory>
#include <nlohmann/json.hpp>
#include <string>

#include "device_option.hpp"
#include "heddle/tools/progress.hpp"
#include "profile_option.hpp"

namespace heddle::cli {

/// An option that names a file.
template <class Path>
CLI::Option* add_file(CLI::App& app, const std::string& names, Path& path,
                      const std::string& help) {
  return app.add_option(names, path, help)->type_name("FILE");
}

struct RunOptions {
  DeviceOption device;
  std::string plan;
  ProfileOption profile;
  bool json = false;
  bool quiet = false;

  /// --device, --threads, --plan and --profile. `matrices` are those that have the plan.
  void add_plan_to(CLI::App& app, const std::string& matrices);
  /// --json and --quiet.
  void add_report_to(CLI::App& app);

  /// Those that the plan is chosen from. Throws `Error` for a plan that no matrix could have, and
  /// for a profile that nothing asks for.
  Profiles profiles_on(const Device& of_run) const;
  /// Null where the run is to be quiet.
  std::unique_ptr<TerminalProgress> progress() const;
  /// Chooses a plan for the matrix and calls `act` with it, as `ProfileOption::build`.
  PlanChoice build(const PlanSubject& matrix, const Device& of_run, Objective objective,
                   const Profiles& profiles, const std::function<void(const Plan&)>& act) const;
  /// On standard output, in the form that was asked for.
  void report(const std::function<nlohmann::ordered_json()>& to_json,
              const std::function<void()>& print) const;
};

}  // namespace heddle::cli
