// --history and --plot: the residuals of a solve as a table and as a picture.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "heddle/report.hpp"
#include "run_files.hpp"

namespace heddle::cli {

class HistoryOptions {
 public:
  void add_to(CLI::App& command);

  bool wanted() const { return table_.has_value() || picture_.has_value(); }
  /// Throws `Error` (usage) for a picture of another kind.
  void add_outputs(RunFiles& files) const;

  /// `title` and `words` go above the picture, `tolerance` (unless 0) is a line in it.
  void write(const std::vector<double>& history, const Report& report, double tolerance,
             const std::string& title, const std::string& words) const;

 private:
  std::optional<std::string> table_;
  std::optional<std::string> picture_;
};

}  // namespace heddle::cli
