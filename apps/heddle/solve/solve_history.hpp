// --history and --plot: the residuals of a solve as a table and as a picture.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "heddle/report.hpp"
#include "run_files.hpp"

namespace heddle::cli {

/// A value for each iteration, from 0, according to the recurrence.
struct HistoryCurve {
  std::string column;  // name in the table
  std::string name;    // name in the picture
  const std::vector<double>* values;
  std::string computed;  // name of the value that was computed from the final x; `end` has it
  double end = 0;
};

struct SolveHistory {
  std::vector<HistoryCurve> curves;  // all of equal length; the tolerance applies to the first
  std::string axis;
  double tolerance = 0;  // 0: none
  Status status = Status::converged;
  long long iterations = 0;
};
/// The residuals of a system.
SolveHistory history_of(const std::vector<double>& residuals, const Report& report,
                        double tolerance);

class HistoryOptions {
 public:
  void add_to(CLI::App& command);

  bool wanted() const { return table_.has_value() || picture_.has_value(); }
  /// Throws `Error` (usage) for a picture of an unsupported kind.
  void add_outputs(RunFiles& files) const;

  /// `title` and `words` go above the picture.
  void write(const SolveHistory& history, const std::string& title, const std::string& words) const;

 private:
  std::optional<std::string> table_;
  std::optional<std::string> picture_;
};

}  // namespace heddle::cli
