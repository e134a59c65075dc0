// Settings of the multigrid preconditioner, and --coordinates and --candidates.
#pragma once

#include <CLI/CLI.hpp>
#include <string>
#include <vector>

#include "heddle/runtime/any_matrix.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"
#include "heddle/runtime/settings.hpp"
#include "heddle/tools/progress.hpp"
#include "run_files.hpp"

namespace heddle::cli {

class MultigridOption {
 public:
  void add_to(CLI::App& command, Settings& settings);
  /// Adds only --coordinates and --candidates.
  void add_candidates_to(CLI::App& command);
  void add_inputs(RunFiles& files) const;

  /// Throws `Error` (usage) for options of multigrid if the preconditioner has no multigrid part.
  void check(const ComposedChoice& preconditioner, const Settings& settings) const;
  /// The part of this check that concerns candidates.
  void check_candidates() const;
  bool names_candidates() const { return !coordinates_.empty() || !candidates_.empty(); }
  /// True if a setting fixes what a profile could choose.
  static bool names_settings(const Settings& settings);
  /// The choice of the preconditioner's name with the given settings in its place, and with points
  /// and candidates read. Throws `Error` for an unsuitable file or matrix.
  MultigridChoice read(const MultigridChoice& named, const Settings& settings,
                       const AnyMatrix& matrix, const Device& device, Progress* progress) const;

 private:
  void read_points(const AnyMatrix& matrix, const Device& device, Progress* progress,
                   MultigridChoice& choice) const;
  void read_candidates(const AnyMatrix& matrix, const Device& device, Progress* progress,
                       MultigridChoice& choice) const;

  std::string coordinates_;
  std::vector<std::string> candidates_;
};

}  // namespace heddle::cli
