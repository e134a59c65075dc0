// --interval and --omega: what the steps of `chebyshev` and `richardson` come of.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "heddle/report.hpp"

namespace heddle::cli {

class StepOptions {
 public:
  void add_to(CLI::App& command);

  /// Throws `Error` (usage) for numbers that are none of these, and for another `method`.
  void check(const std::string& method) const;
  void apply_to(SolverOptions& settings) const;

 private:
  std::vector<double> interval_;  // lower and upper, or empty
  std::optional<double> omega_;
};

}  // namespace heddle::cli
