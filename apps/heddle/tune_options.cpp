#include "tune_options.hpp"

#include <algorithm>
#include <cmath>

#include "any_case.hpp"
#include "heddle/error.hpp"
#include "profile_option.hpp"
#include "run_files.hpp"
#include "whole_number.hpp"

namespace heddle::cli {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::usage, why); }

void check_numbers(const TuneCommand& options) {
  const TuneOptions& limits = options.limits;
  const auto is_share = [](double value) { return value > 0 && value < 1; };
  if (!(limits.max_memory_ratio >= 1)) {
    refuse("--max-memory-ratio is at least 1, the memory of CSR");
  }
  if (!(limits.memory_weight >= 0 && std::isfinite(limits.memory_weight))) {
    refuse("--memory-weight is a number, 0 or more");
  }
  if (!is_share(limits.confidence)) refuse("--confidence is more than 0 and below 1");
  if (!is_share(limits.tightness)) refuse("--tightness is more than 0 and below 1");
  if (options.seconds && !(*options.seconds > 0)) refuse("--seconds is more than 0");
}

void check_paths(const TuneCommand& options) {
  for (auto path = options.paths.begin(); path != options.paths.end(); ++path) {
    if (std::find(options.paths.begin(), path, *path) != path) refuse(*path + " is named twice");
  }
}

/// What is about candidates needs multigrid, which has no plans to choose from.
void check_multigrid(const TuneCommand& options) {
  options.multigrid.check_candidates();
  if (!options.is_of_multigrid()) {
    if (options.multigrid.names_candidates()) {
      refuse("--coordinates and --candidates are for --objective multigrid");
    }
    return;
  }
  for (const CLI::Option* option : options.of_plans) {
    if (option->get_name() != "--objective" && option->count() > 0) {
      refuse(option->get_name() + " is of plans, not of --objective multigrid");
    }
  }
  for (const CLI::Option* option : options.of_medians) {
    if (option->count() > 0) {
      refuse(option->get_name() + " is of medians of plans, not of --objective multigrid");
    }
  }
  if (options.multigrid.names_candidates() && options.paths.size() > 1) {
    refuse("--coordinates and --candidates are of one matrix");
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
    parse_objective(options.objective);
  } catch (const Error& error) {
    throw Error(error.kind(), std::string(error.what()) + " multigrid");
  }
}

}  // namespace

void check_tune_options(const TuneCommand& options) {
  const Search search = parse_search(options.search);
  check_objective(options);
  check_numbers(options);
  check_paths(options);
  for (const CLI::Option* option : options.of_plans) {
    if (options.hierarchical && option->count() > 0) {
      refuse(option->get_name() +
             " is of plans of sliced storage: --storage hisparse tunes sizes of nodes");
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
                  "Matrix Market (.mtx, .mtx.gz) or SciPy .npz files, of the same entry")
      ->type_name("FILE");
  options.matrix.add_settings_to(command);
  TuneOptions& limits = options.limits;
  std::string solvers;
  for (const MethodInfo& method : method_table()) solvers += " " + std::string(method.name);
  command
      .add_option_function<std::string>(
          "--storage",
          [&options](const std::string& name) { options.hierarchical = name == "hisparse"; },
          "sliced, under a plan, or hisparse: the size of a tree's nodes for A x and A* x")
      ->transform(CLI::IsMember({"sliced", "hisparse"}, CLI::ignore_case))
      ->default_str("sliced")
      ->type_name("NAME");
  CLI::Option* const search =
      command
          .add_option("--search", options.search,
                      "pruned: over everything that a plan holds; full: every plan of the papers' "
                      "space; predict: try no plan")
          ->capture_default_str()
          ->transform(any_case())
          ->type_name("NAME");
  CLI::Option* const objective =
      command
          .add_option("--objective", options.objective,
                      "what is timed: product, or the iteration in which it will run:" + solvers +
                          "; or multigrid: the smoother, its steps, the cycle and the strength of "
                          "connections that solve fastest, set-up included")
          ->capture_default_str()
          ->transform(any_case())
          ->type_name("NAME");
  CLI::Option* const ratio =
      command
          .add_option("--max-memory-ratio", limits.max_memory_ratio,
                      "skip plans whose matrix takes more than so many times CSR's memory")
          ->capture_default_str()
          ->type_name("R");
  CLI::Option* const weight = command
                                  .add_option("--memory-weight", limits.memory_weight,
                                              "W of the score, time x (memory over CSR's)^W")
                                  ->capture_default_str()
                                  ->type_name("W");
  command
      .add_option("--confidence", limits.confidence,
                  "with which a median is known within --tightness before its plan is done")
      ->capture_default_str()
      ->type_name("P");
  command.add_option("--tightness", limits.tightness, "relative half width of that interval")
      ->capture_default_str()
      ->type_name("T");
  command.add_option("--max-runs", limits.most_runs, "of a plan, at most")
      ->capture_default_str()
      ->transform(whole_number(1, 100000))
      ->type_name("N");
  command
      .add_option(
          "--seconds", options.seconds,
          "after which the search of a matrix ends, but for a last look at its best "
          "plans, a quarter of that at most [default on a GPU: 8.5 for a pruned search; else none]")
      ->type_name("SECONDS");
  CLI::Option* const domain = command.add_option(
      "--domain", options.domain,
      "name of what the matrices have in common: the plan that is best over all, or what of it "
      "is for all sizes, is kept for others like them [default, where there are several]");
  domain->type_name("NAME");
  CLI::Option* const output = command.add_option(
      "-o,--output", options.output,
      "the profile to write; without it that of this device in the user's cache, merged");
  output->type_name("FILE");
  CLI::Option* const append =
      command.add_flag("--append", options.append, "merge into --output if it is there");
  CLI::Option* const html = command.add_option("--html", options.html,
                                               "where to write what was found as one page of HTML");
  html->type_name("FILE");
  CLI::Option* const trials =
      command.add_option("--trials", options.trials, "where to write every trial as JSON");
  trials->type_name("FILE");
  command.add_flag("--json", options.json, "what was found as JSON on standard output");
  CLI::Option* const list = command.add_flag(
      "--list", options.list,
      "show the plans that there are for the device, and for a matrix if one is named, and end");
  CLI::Option* const evaluation = command.add_option(
      "--evaluate", options.evaluate,
      "search as for a profile, but write none: show what the domain's plan of this profile loses "
      "against that");
  evaluation->type_name("FILE");
  for (CLI::Option* const other : {domain, output, append, html, trials}) {
    list->excludes(other);
    evaluation->excludes(other);
  }
  list->excludes(evaluation);
  options.multigrid.add_candidates_to(command);
  options.of_plans = {search, objective, ratio, weight, domain, html, trials, list, evaluation};
  options.of_medians = {command.get_option("--confidence"), command.get_option("--tightness")};
  command.footer(
      "Example: heddle tune a.mtx b.mtx --entry quaternion --domain surfaces -o profile.json\n"
      "         heddle solve c.mtx --entry quaternion --profile profile.json\n"
      "Ctrl-C keeps what was measured.");
}

}  // namespace heddle::cli
