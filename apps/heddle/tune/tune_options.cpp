#include "tune_options.hpp"

#include <algorithm>
#include <span>

#include "any_case.hpp"
#include "heddle/error.hpp"
#include "profile_option.hpp"
#include "run_files.hpp"
#include "setting_options.hpp"

namespace heddle::cli {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::usage, why); }

void check_paths(const TuneCommand& options) {
  for (auto path = options.paths.begin(); path != options.paths.end(); ++path) {
    if (std::find(options.paths.begin(), path, *path) != path) refuse(*path + " is named twice");
  }
}

/// Options for plans of sliced storage, and for the medians of their times.
constexpr const char* of_plans[] = {
    "--search", "--max-memory-ratio", "--memory-weight", "--domain",
    "--html",   "--trials",           "--list",          "--evaluate"};
constexpr const char* of_medians[] = {"--confidence", "--tightness"};

/// Throws `Error` (usage) with a text that ends in `why` if one of these options was given.
void refuse_given(const TuneCommand& options, std::span<const char* const> names, const char* why) {
  for (const std::string name : names) {
    if (options.command->get_option(name)->count() > 0) refuse(name + why);
  }
}

/// Options for candidates need multigrid, which has no plans to choose from.
void check_multigrid(const TuneCommand& options) {
  options.multigrid.check_candidates();
  if (!options.is_of_multigrid()) {
    if (options.multigrid.names_candidates()) {
      refuse("--coordinates and --candidates are for --objective multigrid");
    }
    return;
  }
  refuse_given(options, of_plans, " is for plans, not for --objective multigrid");
  refuse_given(options, of_medians, " is for medians of plans, not for --objective multigrid");
  if (options.multigrid.names_candidates() && options.paths.size() > 1) {
    refuse("--coordinates and --candidates are for a single matrix");
  }
}

}  // namespace

void check_tune_files(const TuneCommand& options, const std::optional<std::string>& profile) {
  const auto given = [](const std::string& path) {
    return path.empty() ? std::nullopt : std::optional<std::string>(path);
  };
  RunFiles files;
  options.matrix.add_inputs(files);
  options.multigrid.add_inputs(files);
  files.reads("the command", options.paths);
  files.reads("--evaluate", options.evaluate);
  files.writes("--html", given(options.html));
  files.writes("--trials", given(options.trials));
  RunFiles others = files;
  files.writes("--output", profile);
  files.check();
  add_known_profiles(others);
  others.check();
}

namespace {

void check_objective(const TuneCommand& options) {
  if (options.is_of_multigrid()) return;
  try {
    parse_objective(options.objective());
  } catch (const Error& error) {
    throw Error(error.kind(), std::string(error.what()) + " multigrid");
  }
}

}  // namespace

void check_tune_options(const TuneCommand& options) {
  const TuneSettings given = options.of_search();
  const Search search = given.options.search;
  check_objective(options);
  if (options.settings.has("seconds") && given.seconds == 0)
    refuse("--seconds must be more than 0");
  check_paths(options);
  if (options.hierarchical) {
    constexpr const char* objective[] = {"--objective"};
    for (const auto names : {std::span<const char* const>(of_plans), {objective}}) {
      refuse_given(options, names,
                   " is for plans of sliced storage: --storage hisparse tunes node sizes");
    }
  }
  check_multigrid(options);
  if (options.list) {
    if (options.paths.size() > 1) refuse("--list takes one matrix, or none");
    check_tune_files(options, std::nullopt);
    return;
  }
  if (options.paths.empty()) refuse("no matrix is named; see --help");
  if (options.append && !options.output) {
    refuse("--append needs --output, the profile to merge into");
  }
  if (search == Search::predict) {
    if (!options.evaluate.empty()) {
      refuse("--evaluate compares with a search that measures: pruned or full, not predict");
    }
    if (!options.trials.empty()) refuse("--search predict has no trials to write to --trials");
  }
  check_tune_files(options, options.output);
}

void add_tune_options(CLI::App& command, TuneCommand& options) {
  command
      .add_option("matrix", options.paths,
                  "Matrix Market (.mtx, .mtx.gz) or SciPy .npz files, with the same entry")
      ->type_name("FILE");
  options.matrix.add_settings_to(command);
  command
      .add_option_function<std::string>(
          "--storage",
          [&options](const std::string& name) { options.hierarchical = name == "hisparse"; },
          "what to tune: sliced, its plan, or hisparse, the size of a tree's nodes for A x and A* "
          "x")
      ->transform(CLI::IsMember({"sliced", "hisparse"}, CLI::ignore_case))
      ->default_str("sliced")
      ->type_name("NAME");
  add_settings(command, SettingUse::tuning, options.settings);
  CLI::Option* const domain = command.add_option(
      "--domain", options.domain,
      "name of what the matrices have in common; the plan that is best overall, or the part of it "
      "that suits all sizes, is kept for others like them [default, if there are several]");
  domain->type_name("NAME");
  CLI::Option* const output = command.add_option(
      "-o,--output", options.output,
      "the profile to write; default: merge into that of this device in the user's cache");
  output->type_name("FILE");
  CLI::Option* const append =
      command.add_flag("--append", options.append, "merge into --output if it exists");
  CLI::Option* const html =
      command.add_option("--html", options.html, "where to write the results as one page of HTML");
  html->type_name("FILE");
  CLI::Option* const trials =
      command.add_option("--trials", options.trials, "where to write every trial as JSON");
  trials->type_name("FILE");
  command.add_flag("--json", options.json, "print the results as JSON on standard output");
  CLI::Option* const list = command.add_flag(
      "--list", options.list,
      "show the possible plans for the device, and for a matrix if one is named, and exit");
  CLI::Option* const evaluation =
      command.add_option("--evaluate", options.evaluate,
                         "search, but write no profile: show how much slower the domain's plan of "
                         "this profile is than the plans found");
  evaluation->type_name("FILE");
  for (CLI::Option* const other : {domain, output, append, html, trials}) {
    list->excludes(other);
    evaluation->excludes(other);
  }
  list->excludes(evaluation);
  options.multigrid.add_candidates_to(command);
  options.command = &command;
  add_settings_file(command);
  command.footer(
      "Example: heddle tune a.mtx b.mtx --entry quaternion --domain surfaces -o profile.json\n"
      "         heddle solve c.mtx --entry quaternion --profile profile.json\n"
      "Ctrl-C keeps what was measured.");
}

}  // namespace heddle::cli
