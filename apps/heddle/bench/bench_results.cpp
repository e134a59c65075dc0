#include "bench_results.hpp"

#include <algorithm>
#include <filesystem>
#include <iostream>
#include <vector>

#include "../tune/tune_output.hpp"
#include "heddle/error.hpp"
#include "matrix/definitions/strict_json.hpp"
#include "output_path.hpp"
#include "pages/output.hpp"
#include "pages/simulations_section.hpp"
#include "run_files.hpp"

namespace heddle::cli {

namespace {

/// The .json files of a folder, sorted by name.
std::vector<std::string> json_files(const std::string& folder) {
  namespace fs = std::filesystem;
  std::vector<std::string> paths;
  std::error_code error;
  for (const auto& file : fs::directory_iterator(folder, error)) {
    std::error_code gone;
    if (file.path().extension() == ".json" && file.is_regular_file(gone)) {
      paths.push_back(file.path().string());
    }
  }
  if (error) throw Error(ErrorKind::io, "--results " + folder + ": " + error.message());
  std::sort(paths.begin(), paths.end());
  return paths;
}

/// The .json files of a subfolder of the results' folder; none if there is no such folder.
std::vector<std::string> json_files_below(const std::string& results, const char* name) {
  const std::string folder = (std::filesystem::path(results) / name).string();
  std::error_code none;
  if (!std::filesystem::is_directory(folder, none)) return {};
  return json_files(folder);
}

std::vector<bench::NamedReport> read_reports(const std::vector<std::string>& paths) {
  constexpr int max_levels = 16;
  std::vector<bench::NamedReport> reports;
  for (const std::string& path : paths) {
    const std::string text = detail::text_of_file(path);
    try {
      reports.push_back({path, detail::parse_strict_json(text, max_levels)});
    } catch (const Error& error) {
      throw Error(error.kind(), path + ": " + error.what());
    }
  }
  return reports;
}

}  // namespace

int compare_files(const std::string& before, const std::string& after, double threshold) {
  RunFiles files;
  files.reads("--compare", std::vector<std::string>{before, after});
  files.check();
  const bench::Run old_run = bench::read_run(before);
  const bench::Run new_run = bench::read_run(after);
  const bench::Comparison comparison = bench::compare_runs(old_run, new_run, threshold, std::cout);
  return comparison.slower > 0 ? 1 : 0;
}

void write_results(const std::string& folder, const std::optional<std::string>& output) {
  const std::vector<std::string> paths = json_files(folder);
  if (paths.empty()) {
    throw Error(ErrorKind::usage, "--results " + folder + " holds no .json file");
  }
  const std::vector<std::string> simulations = json_files_below(folder, "simulations");
  const std::vector<std::string> tunings = json_files_below(folder, "tuning");
  RunFiles files;
  for (const auto& read : {paths, simulations, tunings}) files.reads("--results", read);
  files.writes("--output", output);
  files.check();
  std::vector<bench::Run> runs;
  runs.reserve(paths.size());
  for (const std::string& path : paths) runs.push_back(bench::read_run(path));
  std::string page = bench::results_page(runs);
  if (!simulations.empty()) page += bench::simulations_section(read_reports(simulations));
  std::vector<nlohmann::json> of_tuning;
  for (auto& tuning : read_reports(tunings)) of_tuning.push_back(std::move(tuning.report));
  if (!of_tuning.empty()) page += tuning::results_section(of_tuning);
  if (output) {
    write_file(*output, page);
  } else {
    std::cout << page;
  }
}

}  // namespace heddle::cli
