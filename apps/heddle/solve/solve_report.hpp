// The report of `heddle solve`, as text and as JSON.
#pragma once

#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "heddle/multigrid.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"
#include "run_facts.hpp"
#include "tuning/planning/hidden_tiles.hpp"
#include "tuning/planning/method_choice.hpp"

namespace heddle::cli {

/// The reason for multigrid's settings if neither options nor a profile set them.
inline constexpr const char* default_settings = "default";

/// Facts of the report.
struct SolveOutcome : RunFacts {
  explicit SolveOutcome(RunFacts facts) : RunFacts(std::move(facts)) {}

  std::string preconditioner;         // the one in use
  std::string preconditioner_reason;  // the reason for it
  bool has_automatic_preconditioner = false;
  UnitRows units;                            // where the preconditioner takes 1
  std::vector<Index> rows_of_zeros;          // not on ranks
  std::optional<Index> inconsistent_row;     // one of them, where b is not 0
  MultigridChoice multigrid;                 // the preconditioner's
  std::string multigrid_reason;              // reason for its settings; empty if they are given
  std::optional<MultigridReport> hierarchy;  // the levels it made
  std::optional<std::string> output;
  MethodChoice method;
  std::optional<HiddenTiles> tiles;  // tiles found in the matrix
  long long narrow_memory = 0;       // matrix in floats, if its fields are in floats too; else 0
  Json settings;                     // given by the options
  double shift = 0;
  bool has_guess = false;       // x did not begin at 0
  std::vector<Report> reports;  // one for each right-hand side
  std::vector<double> errors;   // |x - x*| / |x*| of each system with a known solution x*
  std::size_t reported = 0;     // the system that the report describes in most detail

  const Report& report() const { return reports.at(reported); }
  /// True if there is no x to write, see `is_refused`.
  bool all_refused() const;
};

/// True if no iteration was made or can be made: x is as given, and an older solution stays in its
/// file.
bool is_refused(const Report& report);

/// The first system that is not solved, else the first of those with the most iterations.
std::size_t most_telling(const std::vector<Report>& reports);

/// `device` is that of all ranks.
ReportLines describe(const SolveOutcome& outcome, const Device& device);

}  // namespace heddle::cli
