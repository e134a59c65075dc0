#include "bench_options.hpp"

#include "any_case.hpp"
#include "heddle/error.hpp"
#include "whole_number.hpp"

namespace heddle::cli {

void add_bench_options(CLI::App& command, BenchOptions& options) {
  const auto repeatable = [&](const char* option, std::vector<std::string>& into, const char* help,
                              const char* type) {
    command.add_option(option, into, help)
        ->type_name(type)
        ->expected(1)
        ->multi_option_policy(CLI::MultiOptionPolicy::TakeAll);
  };
  repeatable("--suite", options.suites,
             "product, solver, right-hand-sides, layouts, setup, scaling, assembly, "
             "hierarchical, pjds or primitives; default: all; may be repeated",
             "NAME");
  repeatable("--problem", options.problems,
             "measure only this problem of those that --list shows; may be repeated", "NAME");
  repeatable("--plan", options.plans,
             "an additional plan for Heddle, as in `heddle spmv`; may be repeated", "TEXT");
  command
      .add_option("--profile", options.profile,
                  "a tuning profile, whose plan for each problem is an additional one for Heddle")
      ->type_name("FILE");
  options.processor.add_to(command);
  command.add_flag("--quick", options.quick, "few problems and repetitions: a minute or two");
  command.add_flag("--list", options.list, "show the problems that would be measured, and exit");
  command
      .add_option("--write-problems", options.write_problems,
                  "measure nothing: write the problems that --list shows into this folder, as .npz")
      ->type_name("DIR");
  command
      .add_option("--matrices", options.matrices,
                  "measure the .mtx, .mtx.gz and .npz files of this folder instead")
      ->type_name("DIR");
  command
      .add_option("--entry", options.entry,
                  "entry that the files of --matrices are folded into; default: detected")
      ->transform(any_case())
      ->type_name("KIND");
  command
      .add_option("--repetitions", options.repetitions,
                  "maximum repetitions of each, interleaved [25, with --quick 5]")
      ->transform(whole_number(3, 100000))
      ->type_name("N");
  command
      .add_option("--tolerance", options.tolerance,
                  "limit on |b - A x| / |b| of complete solves in double precision")
      ->capture_default_str()
      ->type_name("T");
  command.add_option("-o,--output", options.output, "where to write the run as JSON")
      ->type_name("FILE");
  command.add_option("--html", options.html, "where to write the run as one page of HTML")
      ->type_name("FILE");
  command.add_flag("--json", options.json,
                   "print the run as JSON on standard output, not as a table");
  command.add_option("--name", options.name, "name of the run [date and device]")
      ->type_name("TEXT");
  command.add_flag("-q,--quiet", options.quiet, "no progress, and no table");
  command
      .add_option("--compare", options.compare,
                  "measure nothing: compare two runs; status 1 if something is slower")
      ->type_name("OLD NEW")
      ->expected(2);
  command
      .add_option("--threshold", options.threshold,
                  "relative difference from which --compare counts a time as changed")
      ->capture_default_str()
      ->check(positive_number(true))
      ->type_name("T");
  command
      .add_option("--results", options.results,
                  "measure nothing: write the results page of the runs in this folder, and of "
                  "those of `heddle tune --json` in its subfolder tuning, to --output")
      ->type_name("DIR");
  command.footer(
      "Example: heddle bench --quick --problem surface-2562 -o run.json --html run.html\n"
      "Ctrl-C keeps what was measured.");
}

void check_bench_options(const CLI::App& command) {
  const auto is_given = [&](const std::string& option) {
    return command.get_option(option)->count() > 0;
  };
  const auto refuse = [&](const std::string& mode, const std::vector<std::string>& options) {
    for (const std::string& option : options) {
      if (!is_given(mode) || !is_given(option)) continue;
      std::string message = mode;
      message.append(" measures nothing and takes no ").append(option);
      throw Error(ErrorKind::usage, message);
    }
  };
  const std::vector<std::string> modes = {"--compare", "--results", "--write-problems", "--list"};
  for (std::size_t i = 0; i < modes.size(); ++i) {
    refuse(modes[i], {"--plan", "--profile", "--matrices", "--entry", "--repetitions",
                      "--tolerance", "--name", "--json", "--html"});
    refuse(modes[i], {modes.begin() + static_cast<long>(i) + 1, modes.end()});
  }
  for (const char* const mode : {"--compare", "--results"}) {
    refuse(mode, {"--suite", "--problem", "--quick"});
  }
  for (const char* const mode : {"--compare", "--write-problems", "--list"}) {
    refuse(mode, {"--output"});
  }
  if (is_given("--threshold") && !is_given("--compare")) {
    throw Error(ErrorKind::usage, "--threshold is for --compare");
  }
}

}  // namespace heddle::cli
