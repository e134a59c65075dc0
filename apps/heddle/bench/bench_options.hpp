// Options of `heddle bench`.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "device_option.hpp"

namespace heddle::cli {

struct BenchOptions {
  std::vector<std::string> suites;
  std::vector<std::string> problems;
  std::vector<std::string> plans;
  std::string profile;
  DeviceOption processor;
  bool quick = false;
  bool list = false;
  std::string matrices;
  std::string entry;
  std::optional<int> repetitions;
  double tolerance = 1e-8;
  std::string output;
  std::string html;
  bool json = false;
  std::string name;
  bool quiet = false;
  std::vector<std::string> compare;
  double threshold = 0.05;
  std::string results;
  std::string write_problems;
};

void add_bench_options(CLI::App& command, BenchOptions& options);

/// Refuses options of measurements where nothing is measured, rather than ignore them. Throws
/// `Error` (usage) after parsing.
void check_bench_options(const CLI::App& command);

}  // namespace heddle::cli
