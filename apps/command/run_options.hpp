// How a program runs, whatever it computes: device, plan, profile, and where its report goes.
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

/// Adds an option that names a file.
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

  /// Adds --device, --threads, --plan and --profile. `matrices` says which matrices have the plan.
  void add_plan_to(CLI::App& app, const std::string& matrices);
  /// Adds --json and --quiet.
  void add_report_to(CLI::App& app);

  /// The profiles that the plan is chosen from. Throws `Error` for a plan that no matrix could
  /// have, and for a profile that nothing asks for.
  Profiles profiles_on(const Device& of_run) const;
  /// Null if the run is to be quiet.
  std::unique_ptr<TerminalProgress> progress() const;
  /// Chooses a plan for the matrix and calls `act` with it, like `ProfileOption::build`.
  PlanChoice build(const PlanSubject& matrix, const Device& of_run, Objective objective,
                   const Profiles& profiles, const std::function<void(const Plan&)>& act) const;
  /// Reports on standard output, in the requested form.
  void report(const std::function<nlohmann::ordered_json()>& to_json,
              const std::function<void()>& print) const;
};

}  // namespace heddle::cli
