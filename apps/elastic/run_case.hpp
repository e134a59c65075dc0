// A case from file to file: read, checked, computed, written.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "../command/guess_record.hpp"
#include "../command/preconditioner_option.hpp"
#include "../simulation/case_options.hpp"
#include "../simulation/run_summary.hpp"
#include "case_file.hpp"
#include "energies.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/report.hpp"
#include "modes/modal_analysis.hpp"
#include "phase_times.hpp"
#include "step_deflation.hpp"

namespace heddle::elastic {

struct RunOptions : simulation::CaseOptions {
  std::optional<std::string> history;  // .csv
  std::optional<std::string> dump;     // prefix of two files
  cli::PreconditionerOption preconditioner;
};

/// Record of one solved system, and of the state that resulted.
struct StepRecord {
  long long step = 0;  // 0: the state at the start, whose acceleration was solved for
  double time = 0;
  Report report;
  Energies energies;
};

/// The contents of a report.
struct Outcome : simulation::RunSummary {
  Case given;
  bool multigrid = false;  // replaces Jacobi's preconditioner
  StoredScalar level_precision = StoredScalar::own;
  long long unknowns = 0;
  bool is_projected = false;      // true if rigid motions were projected out
  std::vector<StepRecord> steps;  // none for modes
  Modes found;                    // for modes only; their shapes are not kept
  cli::GuessRecord guesses;
  DeflationRecord deflation;
  std::optional<MultigridReport> hierarchy;  // from its first setup
  long long frames = 0;
  bool is_dumped = false;
  double largest_displacement = 0;  // largest component, at the end
  PhaseTimes times;
  double wall = 0;

  /// True if every system so far was solved, though perhaps only as far as rounding allows.
  bool solved() const;
  long long steps_at_accuracy_limit() const;
  double worst_residual() const;  // relative
  /// The report of the step that ended the run if it was not solved, else of the last step.
  const Report& last_report() const { return steps.back().report; }
  long long iterations() const;
  double seconds_after_setup() const { return wall - times.read - times.setup; }
  /// Fraction of those seconds spent in solver, products and vector work, elements, matrix values.
  double share_of_kernels() const;
};

/// Throws `Error` for whatever is wrong with the input, before anything is written. A solve that
/// neither converges nor ends at the accuracy limit ends the run; the states before it are written,
/// the one that it was to produce is not.
Outcome run_case(const RunOptions& options);

}  // namespace heddle::elastic
