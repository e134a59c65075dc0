#include "run_options.hpp"

#include <iostream>

#include "json_report.hpp"

namespace heddle::cli {

void RunOptions::add_plan_to(CLI::App& app, const std::string& matrices) {
  device.add_to(app);
  app.add_option("--plan", plan,
                 "layout and schedule of " + matrices +
                     ", as for `heddle solve`; default: chosen automatically")
      ->type_name("TEXT");
  profile.add_to(app, quiet);
}

void RunOptions::add_report_to(CLI::App& app) {
  app.add_flag("--json", json, "print the report as one JSON object");
  app.add_flag("-q,--quiet", quiet, "no progress, and no report except --json");
}

Profiles RunOptions::profiles_on(const Device& of_run) const {
  check_plan_text(plan, of_run);
  profile.check_use({plan});
  return profile.profiles_for({plan}, of_run);
}

std::unique_ptr<TerminalProgress> RunOptions::progress() const {
  return quiet ? nullptr : std::make_unique<TerminalProgress>();
}

PlanChoice RunOptions::build(const PlanSubject& matrix, const Device& of_run, Objective objective,
                             const Profiles& profiles,
                             const std::function<void(const Plan&)>& act) const {
  const auto choose = [&](const Profiles& from) {
    return choice_for(plan, matrix, of_run, objective, from);
  };
  PlanChoice choice = choose(profiles);
  profile.build(choice, act, [&] { return choose(Profiles()); });
  return choice;
}

void RunOptions::report(const std::function<nlohmann::ordered_json()>& to_json,
                        const std::function<void()>& print) const {
  if (json) {
    std::cout << text_of(to_json());
  } else if (!quiet) {
    print();
  }
}

}  // namespace heddle::cli
