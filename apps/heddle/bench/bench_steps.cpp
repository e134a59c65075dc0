#include "bench_steps.hpp"

#include <algorithm>
#include <cstdio>
#include <filesystem>
#include <string_view>
#include <system_error>
#include <utility>

#include "heddle/error.hpp"
#include "output_path.hpp"
#include "readable.hpp"

namespace heddle::cli {

namespace {

using bench::ProblemName;
using Options = BenchOptions;

std::string joined(const std::vector<std::string>& words) {
  std::string text;
  for (const std::string& word : words) text += (text.empty() ? "" : ", ") + word;
  return text;
}

bool contains(const std::vector<std::string>& words, std::string_view word) {
  return std::find(words.begin(), words.end(), word) != words.end();
}

[[noreturn]] void refuse_name(const std::string& what, const std::string& given,
                              const std::vector<std::string>& known) {
  throw Error(ErrorKind::usage,
              "no " + what + " is named '" + given + "'; there are: " + joined(known));
}

/// The chosen suites, in the order in which they run.
std::vector<std::string> chosen_suites(const Options& options) {
  const std::vector<std::string> known(bench::suite_names.begin(), bench::suite_names.end());
  for (const std::string& suite : options.suites) {
    if (!contains(known, suite)) refuse_name("suite", suite, known);
  }
  std::vector<std::string> chosen;
  for (const std::string& suite : known) {
    if (options.suites.empty() || contains(options.suites, suite)) chosen.push_back(suite);
  }
  return chosen;
}

std::vector<BenchStep> steps_of_folder(const Options& options) {
  namespace fs = std::filesystem;
  std::error_code error;
  std::vector<BenchStep> steps;
  for (const auto& file : fs::directory_iterator(options.matrices, error)) {
    const std::string path = file.path().string();
    if (!ends_with(path, ".mtx") && !ends_with(path, ".mtx.gz") && !ends_with(path, ".npz")) {
      continue;
    }
    std::error_code gone;
    if (!file.is_regular_file(gone)) continue;  // opening a pipe would block
    BenchStep step{file.path().filename().string(), {}, path, {}, 20};
    for (const std::string& suite : chosen_suites(options)) {
      if (suite != "scaling" && suite != "assembly" && suite != "primitives") {
        step.suites.push_back(suite);
      }
    }
    if (!step.suites.empty()) steps.push_back(std::move(step));
  }
  if (error) {
    throw Error(ErrorKind::io, "--matrices " + options.matrices + ": " + error.message());
  }
  if (steps.empty()) {
    throw Error(ErrorKind::usage, "--matrices " + options.matrices +
                                      " holds no .mtx, .mtx.gz or .npz file for these suites");
  }
  std::sort(steps.begin(), steps.end(),
            [](const BenchStep& a, const BenchStep& b) { return a.name < b.name; });
  return steps;
}

}  // namespace

std::vector<BenchStep> generated_steps(const Options& options, const Device& device) {
  const std::vector<ProblemName> all = bench::problems();
  std::vector<std::string> names;
  names.reserve(all.size());
  for (const ProblemName& problem : all) names.push_back(problem.name);
  for (const std::string& name : options.problems) {
    if (!contains(names, name)) refuse_name("problem", name, names);
  }
  std::vector<BenchStep> steps;
  for (const ProblemName& problem : all) {
    const bool asked_for = contains(options.problems, problem.name);
    if (!options.problems.empty() && !asked_for) continue;
    BenchStep step{problem.name, problem, "", {}, 1};
    for (const std::string& suite : chosen_suites(options)) {
      if (asked_for ? bench::fits(suite, problem)
                    : bench::takes(suite, problem, device, options.quick)) {
        step.suites.push_back(suite);
        step.weight += suite == "product" || suite == "solver" || suite == "right-hand-sides" ? 10
                       : suite == "layouts"                                                   ? 0.1
                                                                                              : 4;
      }
    }
    if (!step.suites.empty()) steps.push_back(std::move(step));
  }
  return steps;
}

std::vector<BenchStep> steps_of(const Options& options, const Device& device) {
  std::vector<BenchStep> steps;
  if (!options.matrices.empty()) steps = steps_of_folder(options);
  if (options.matrices.empty() || !options.problems.empty()) {
    for (BenchStep& step : generated_steps(options, device)) steps.push_back(std::move(step));
  }
  if (steps.empty()) {
    if (options.suites == std::vector<std::string>{"primitives"} && !device.on_gpu()) {
      throw Error(ErrorKind::usage, "the suite primitives needs a GPU: --device cuda");
    }
    throw Error(ErrorKind::usage, "none of these suites takes any of these problems; see --list");
  }
  return steps;
}

void list_steps(const Options& options, const Device& device) {
  std::printf("%-22s %10s  %-11s %-7s suites\n", "problem", "rows", "entry", "");
  for (const BenchStep& step : generated_steps(options, device)) {
    const ProblemName& problem = *step.generated;
    std::printf("%-22s %10s  %-11s %-7s %s\n", step.name.c_str(),
                readable_count(problem.rows).c_str(), std::string(name(problem.entry)).c_str(),
                std::string(name(problem.precision)).c_str(), joined(step.suites).c_str());
  }
}

}  // namespace heddle::cli
