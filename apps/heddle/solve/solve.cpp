// `heddle solve`: a system from a file, solved and reported.
#include <memory>
#include <utility>

#include "any_case.hpp"
#include "commands.hpp"
#include "setting_options.hpp"
#include "solve_on_ranks.hpp"
#include "solve_system.hpp"
#include "tuning/planning/method_choice.hpp"
#include "whole_number.hpp"

namespace heddle::cli {

namespace {

void add_system(CLI::App& command, SolveOptions& options) {
  command
      .add_option("--rhs", options.rhs,
                  "b: a file (.mtx, .npy, .txt) with one or several side by side, or 'ones' (the "
                  "number 1 everywhere); default: b = A x* with a random x*, and the report shows "
                  "the error against x*")
      ->type_name("FILE|ones");
  command
      .add_option("--right-hand-sides", options.right_hand_sides,
                  "number of systems with this matrix to solve side by side; the report says most "
                  "about the one that took longest [the number in --rhs, or 1]")
      ->transform(whole_number(1, 1000))
      ->type_name("N");
  command.add_option("--guess", options.guess, "starting point; default: zero")->type_name("FILE");
  command
      .add_option("-o,--output", options.output,
                  "where to write x, one entry a row: .mtx, .mtx.gz, .npy or .txt")
      ->type_name("FILE");
  command
      .add_option("--shift", options.shift,
                  "solve (A + SIGMA I) x = b with this real number, without storing that matrix")
      ->type_name("SIGMA");
}

void add_method(CLI::App& command, SolveOptions& options) {
  command.add_option("--solver", options.method, methods_in_words())
      ->capture_default_str()
      ->transform(any_case())
      ->type_name("NAME");
  command
      .add_option(
          "--preconditioner", options.preconditioner,
          preconditioners_in_words() + compositions_in_words() +
              "; auto is jacobi, or none with --shift and where no diagonal entry has an inverse "
              "[auto]")
      ->transform(any_case())
      ->type_name("NAME[:N]...");
  add_settings(command, SettingUse::solver, {"tolerance", "max_iterations"}, options.settings);
  add_settings(command, SettingUse::solver, options.settings, "solver");
  add_settings(command, SettingUse::least_squares, options.settings, "solver");
  options.multigrid.add_to(command, options.settings);
}

void add_report(CLI::App& command, SolveOptions& options) {
  options.history.add_to(command);
  command
      .add_flag("--monitor", options.monitor,
                "print a table of the residual on standard error while iterating; on a GPU as "
                "often as the host checks, about every 20 ms")
      ->group("output");
  command
      .add_option("--repetitions", options.repetitions,
                  "solve N times, each time from the guess; the report has the median time")
      ->capture_default_str()
      ->transform(whole_number(1, 100000))
      ->type_name("N")
      ->group("output");
  command.add_option("--seed", options.seed, "seed of the random solution")
      ->capture_default_str()
      ->transform(whole_number())
      ->group("output");
  command.add_flag("--json", options.json, "print the report as one JSON object");
}

/// Moves options that fewer people use to the help of their group.
void set_groups(CLI::App& command) {
  constexpr std::pair<const char*, const char*> groups[] = {{"--entry-definition", "system"},
                                                            {"--right-hand-sides", "system"},
                                                            {"--guess", "system"},
                                                            {"--shift", "system"},
                                                            {"--plan", "storage"},
                                                            {"--profile", "storage"},
                                                            {"--history", "output"},
                                                            {"--plot", "output"}};
  for (const auto& [option, group] : groups) command.get_option(option)->group(group);
}

}  // namespace

void add_solve(CLI::App& app, int& status, Communicator* ranks) {
  auto options = std::make_shared<SolveOptions>();
  CLI::App* command = app.add_subcommand("solve", "Solve A x = b");
  options->matrix.add_to(*command);
  add_system(*command, *options);
  add_method(*command, *options);
  add_plan_option(*command, options->plan);
  options->storage.add_to(*command);
  options->ranks.add_to(*command, ranks != nullptr);
  options->profile.add_to(*command, options->matrix.quiet);
  add_report(*command, *options);
  add_settings_file(*command);
  set_groups(*command);
  command->footer(
      "Example: heddle solve dirac.mtx.gz --entry quaternion --tolerance 1e-8 --output x.mtx\n"
      "Exit status: 0 converged, 1 not converged, 2 bad input, 3 resources, 130 interrupted.");
  command->callback([options, &status, ranks] {
    if (ranks != nullptr) {
      status = solve_on_ranks(*options, *ranks);
    } else {
      options->ranks.check_use(options->matrix.processor.device);
      status = options->ranks.is_given() ? solve_on_ranks(*options) : solve_alone(*options);
    }
  });
}

}  // namespace heddle::cli
