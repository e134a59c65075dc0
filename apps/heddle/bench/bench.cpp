// `heddle bench`: Heddle compared with other libraries in one run.
#include <sys/utsname.h>

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>

#include "bench_options.hpp"
#include "bench_results.hpp"
#include "bench_steps.hpp"
#include "commands.hpp"
#include "heddle/tools/text.hpp"
#include "heddle/version.hpp"
#include "json_report.hpp"
#include "message.hpp"
#include "options/companion.hpp"
#include "options/matrix_options.hpp"
#include "options/on_interrupt.hpp"
#include "output_path.hpp"
#include "pages/output.hpp"
#include "provenance.hpp"
#include "run_files.hpp"
#include "suites/suite.hpp"

namespace heddle::cli {

namespace {

using bench::Run;
using bench::Session;

using Options = BenchOptions;

Run new_run(const Options& options, const Device& device, int repetitions) {
  Run run;
  run.date = utc("%Y-%m-%dT%H:%M:%SZ");
  run.device_kind = device.on_gpu() ? "cuda" : "cpu";
  run.name = !options.name.empty() ? options.name : utc("%Y-%m-%d") + "-" + run.device_kind;
  run.version = version;
  run.commit = commit();
  run.command = command_line();
  utsname system{};
  uname(&system);
  run.machine = Device::cpu(options.processor.threads).description() + ", " + system.sysname + " " +
                system.release;
  run.device = device.description();
  run.repetitions = repetitions;
  run.tolerance = options.tolerance;
  run.quick = options.quick;
  return run;
}

void write_run(const std::string& path, const Run& run) {
  write_file(path, text_of(bench::to_json(run), 1));
}

void put_out(const Options& options, const Run& run) {
  if (!options.output.empty()) write_run(options.output, run);
  if (!options.html.empty()) write_file(options.html, bench::html_page(run));
  if (options.json) {
    std::cout << text_of(bench::to_json(run), 1);
  } else if (!options.quiet) {
    bench::print_table(run, std::cout);
  }
}

/// The share of the work that is done, and the time that the rest will take.
class TimeLeft {
 public:
  TimeLeft(const std::vector<BenchStep>& steps, Progress* progress) : progress_(progress) {
    for (const BenchStep& step : steps) all_ += step.weight;
  }

  void begin(const std::string& step, const std::string& suite) { what_ = step + ": " + suite; }
  void doing(const std::string& now) {
    if (progress_ == nullptr) return;
    std::string text = what_ + ", " + now;
    const double seconds = passed_.seconds();
    constexpr double enough_to_tell = 0.03;
    if (done_ > enough_to_tell * all_) {
      text += ", about " + readable_minutes(seconds * (all_ - done_) / done_) + " left,";
    }
    progress_->report(done_ / all_, text);
  }
  void done(double weight) { done_ += weight; }

 private:
  Progress* progress_;
  std::string what_;
  Stopwatch passed_;
  double all_ = 0;
  double done_ = 0;
};

/// A record that replaces those that could not be made.
bench::Record failed_record(const BenchStep& step, const std::string& suite,
                            const std::string& why) {
  bench::Record record;
  record.suite = suite;
  record.problem = step.name;
  record.entry = "unknown";
  record.precision = name(Precision::double_precision);
  record.quantity = suite == "product" ? "product" : "all";
  if (step.generated) {
    record.entry = name(step.generated->entry);
    record.precision = name(step.generated->precision);
    record.rows = step.generated->rows;
  }
  bench::Candidate candidate;
  candidate.role = bench::Role::chosen;
  candidate.library = "Heddle";
  candidate.failure = why;
  record.candidates.push_back(std::move(candidate));
  return record;
}

void run_suite(Session& session, const std::string& suite, const bench::Problem& problem,
               const BenchStep& step) {
  if (suite == "product") bench::product_suite(session, problem);
  if (suite == "solver") bench::solver_suite(session, problem);
  if (suite == "right-hand-sides") bench::right_hand_sides_suite(session, problem);
  if (suite == "layouts") bench::layouts_suite(session, problem);
  if (suite == "setup") bench::setup_suite(session, problem);
  if (suite == "assembly") bench::assembly_suite(session, problem);
  if (suite == "pjds") bench::pjds_suite(session, problem);
  if (suite == "hierarchical") bench::hierarchical_suite(session, problem);
  if (suite == "primitives") bench::primitives_suite(session, problem);
  if (suite == "scaling") bench::scaling_suite(session, problem, step.name.starts_with("length-"));
}

void run_step(Session& session, const Options& options, const BenchStep& step, TimeLeft& time) {
  std::string why = step.generated ? bench::why_too_large(*step.generated, session.device()) : "";
  std::optional<bench::Problem> problem;
  if (why.empty()) {
    time.begin(step.name, step.generated ? "generating" : "reading");
    time.doing("the matrix");
    try {
      const std::optional<EntryKind> entry =
          options.entry.empty() ? std::nullopt
                                : std::optional<EntryKind>(parse_entry_kind(options.entry));
      problem.emplace(step.generated ? bench::make_problem(*step.generated, session.device())
                                     : bench::read_problem(step.path, entry, session.device()));
      problem->name = step.name;
    } catch (const std::exception& error) {
      why = bench::one_line(error.what());
    }
  }
  for (const std::string& suite : step.suites) {
    if (!problem) {
      session.add(failed_record(step, suite, why));
      continue;
    }
    time.begin(step.name, suite);
    try {
      run_suite(session, suite, *problem, step);
    } catch (const std::exception& error) {
      session.add(failed_record(step, suite, bench::one_line(error.what())));
    }
  }
}

/// Profiles of the named file alone: a run uses the one that it was given, whatever others exist.
Profiles profiles_of(const Options& options, const Device& device) {
  if (options.profile.empty()) return {};
  Profiles profiles = Profiles::of_file(device, options.profile);
  for (const std::string& warning : profiles.warnings()) {
    if (!options.quiet) warn(warning);
  }
  return profiles;
}

int write_problems(const Options& options, const Device& device, TerminalProgress* progress) {
  namespace fs = std::filesystem;
  std::error_code error;
  if (!fs::is_directory(options.write_problems, error)) {
    throw Error(ErrorKind::io, "--write-problems " + options.write_problems + " is not a folder");
  }
  const std::vector<BenchStep> steps = generated_steps(options, device);
  if (steps.empty()) {
    throw Error(ErrorKind::usage, "none of these suites takes any of these problems; see --list");
  }
  const auto path_of = [&](const BenchStep& step) {
    return (fs::path(options.write_problems) / (step.name + ".npz")).string();
  };
  RunFiles files;
  for (const BenchStep& step : steps) files.writes("--write-problems", path_of(step));
  files.check();
  for (std::size_t i = 0; i < steps.size(); ++i) {
    const std::string path = path_of(steps[i]);
    if (progress) {
      progress->report(static_cast<double>(i) / static_cast<double>(steps.size()), path);
    }
    bench::write_problem(bench::make_problem(*steps[i].generated), path);
    if (progress) progress->erase();
    if (!options.quiet) {
      std::printf("%s (--entry %s)\n", io::printable(path).c_str(),
                  std::string(name(steps[i].generated->entry)).c_str());
    }
  }
  return 0;
}

std::optional<std::string> if_given(const std::string& path) {
  return path.empty() ? std::nullopt : std::optional<std::string>(path);
}

int measure_all(const Options& options) {
  MatrixOptions where;
  where.processor = options.processor;
  where.quiet = options.quiet;
  const Device device = where.on();
  if (options.list) {
    list_steps(options, device);
    return 0;
  }
  if (!options.write_problems.empty()) {
    return write_problems(options, device, where.progress().get());
  }
  for (const std::string& text : options.plans) check_plan_text(text, device);
  if (!(options.tolerance > 0 && options.tolerance < 1)) {
    throw Error(ErrorKind::usage, "--tolerance must be more than 0 and below 1");
  }
  if (!options.entry.empty()) parse_entry_kind(options.entry);
  const std::vector<BenchStep> steps = steps_of(options, device);
  RunFiles files;
  files.reads("--profile", options.profile);
  for (const BenchStep& step : steps) files.reads("--matrices", step.path);
  files.writes("--output", if_given(options.output));
  files.writes("--html", if_given(options.html));
  files.check();

  constexpr int usual = 25, in_a_hurry = 5;
  bench::Settings settings;
  settings.device = device;
  settings.repetitions = options.repetitions.value_or(options.quick ? in_a_hurry : usual);
  settings.tolerance = options.tolerance;
  settings.quick = options.quick;
  settings.plans = options.plans;
  settings.profiles = profiles_of(options, device);
  const auto progress = where.progress();
  Run run = new_run(options, device, settings.repetitions);
  Session session(std::move(settings), bench::peers_for(device), std::move(run));
  TimeLeft time(steps, progress.get());
  session.on_progress = [&](const std::string& now) { time.doing(now); };
  const auto so_far = [&] {
    Run unfinished = session.run();
    unfinished.interrupted = true;
    return unfinished;
  };
  {
    const OnInterrupt keep([&] {
      if (progress) progress->erase();
      put_out(options, so_far());
    });
    for (const BenchStep& step : steps) {
      run_step(session, options, step, time);
      time.done(step.weight);
      // A run that is killed, for example for lack of memory, keeps its results.
      if (!options.output.empty()) write_run(options.output, so_far());
    }
  }
  if (progress) progress->erase();
  put_out(options, session.run());
  return 0;
}

int run(const Options& options) {
  if (!options.compare.empty()) {
    return compare_files(options.compare[0], options.compare[1], options.threshold);
  }
  if (!options.results.empty()) {
    write_results(options.results, if_given(options.output));
    return 0;
  }
  return measure_all(options);
}

}  // namespace

void add_bench(CLI::App& app, int& status) {
  auto options = std::make_shared<Options>();
  CLI::App* command = app.add_subcommand(bench_companion.name, bench_companion.description);
  add_bench_options(*command, *options);
  command->callback([command, options, &status] {
    check_bench_options(*command);
    status = run(*options);
  });
}

}  // namespace heddle::cli
