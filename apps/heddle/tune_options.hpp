// What `heddle tune` is told.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "base/names.hpp"
#include "heddle/runtime/settings.hpp"
#include "matrix_options.hpp"
#include "multigrid_options.hpp"

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
  MultigridOption multigrid;  // candidates
  bool hierarchical = false;  // storage, of which only the nodes have a size to tune
  std::string evaluate;
  const CLI::App* command = nullptr;

  TuneSettings of_search() const { return with_settings(TuneSettings(), settings); }
  std::string objective() const { return lower_case(of_search().objective); }
  /// Whether settings of multigrid are tuned, not a plan.
  bool is_of_multigrid() const { return objective() == "multigrid"; }
};

void add_tune_options(CLI::App& command, TuneCommand& options);

/// Before anything takes long. Throws `Error` (usage).
void check_tune_options(const TuneCommand& options);

/// `profile` is what the run writes if not `--output`. One profile may replace another that is
/// asked for known plans; nothing else may.
void check_tune_files(const TuneCommand& options, const std::optional<std::string>& profile);

}  // namespace heddle::cli
