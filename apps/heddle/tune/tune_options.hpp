// Options of `heddle tune`.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/text/names.hpp"
#include "heddle/runtime/settings.hpp"
#include "options/matrix_options.hpp"
#include "options/multigrid_options.hpp"

namespace heddle::cli {

struct TuneCommand {
  MatrixOptions matrix;
  std::vector<std::string> paths;
  Settings settings;
  std::string domain;
  std::optional<std::string> output;
  bool append = false;
  std::string html;
  std::string trials;
  bool json = false;
  bool list = false;
  MultigridOption multigrid;  // its candidates
  bool hierarchical = false;  // hierarchical storage, of which only the sizes of nodes are tuned
  std::string evaluate;
  const CLI::App* command = nullptr;

  TuneSettings of_search() const { return with_settings(TuneSettings(), settings); }
  std::string objective() const { return lower_case(of_search().objective); }
  /// True if settings of multigrid are tuned instead of a plan.
  bool is_of_multigrid() const { return objective() == "multigrid"; }
};

void add_tune_options(CLI::App& command, TuneCommand& options);

/// Called before any long work. Throws `Error` (usage).
void check_tune_options(const TuneCommand& options);

/// `profile` is the file written in place of `--output`. It may replace a known profile that is
/// read for its plans; no other output may.
void check_tune_files(const TuneCommand& options, const std::optional<std::string>& profile);

}  // namespace heddle::cli
