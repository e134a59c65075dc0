// --cycle, --smoother, --interpolation, --level-precision, --strength, --coordinates and
// --candidates: what the preconditioner multigrid is told.
#pragma once

#include <CLI/CLI.hpp>
#include <optional>
#include <string>
#include <vector>

#include "heddle/runtime/any_matrix.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"
#include "heddle/tools/progress.hpp"
#include "run_files.hpp"

namespace heddle::cli {

class MultigridOption {
 public:
  void add_to(CLI::App& command);
  /// Of these --coordinates and --candidates.
  void add_candidates_to(CLI::App& command);
  void add_inputs(RunFiles& files) const;

  /// Throws `Error` (usage) for options without multigrid among the parts of the preconditioner.
  void check(const ComposedChoice& preconditioner) const;
  /// The part of that which is about candidates.
  void check_candidates() const;
  bool names_candidates() const { return !coordinates_.empty() || !candidates_.empty(); }
  /// Whether an option says what a profile could.
  bool names_settings() const {
    return cycle_ || smoother_ || interpolation_ || level_precision_ || strength_;
  }
  /// What the options say in place of what the preconditioner's name does.
  void apply_to(MultigridChoice& choice) const;
  /// The same with points and candidates read. Throws `Error` for a file or a matrix that does not
  /// suit.
  MultigridChoice read(const MultigridChoice& named, const AnyMatrix& matrix, const Device& device,
                       Progress* progress) const;

 private:
  std::optional<std::string> cycle_, smoother_, interpolation_, level_precision_;
  std::optional<double> strength_;
  void read_points(const AnyMatrix& matrix, const Device& device, Progress* progress,
                   MultigridChoice& choice) const;
  void read_candidates(const AnyMatrix& matrix, const Device& device, Progress* progress,
                       MultigridChoice& choice) const;

  std::string coordinates_;
  std::vector<std::string> candidates_;
};

}  // namespace heddle::cli
