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

/// Why multigrid has its settings, where neither options nor a profile say so.
inline constexpr const char* default_settings = "default";

/// The report's facts.
struct SolveOutcome : RunFacts {
  explicit SolveOutcome(RunFacts facts) : RunFacts(std::move(facts)) {}

  std::string preconditioner;         // in use
  std::string preconditioner_reason;  // and why
  bool has_automatic_preconditioner = false;
  MultigridChoice multigrid;                 // of the preconditioner
  std::string multigrid_reason;              // of its settings; empty where they are named
  std::optional<MultigridReport> hierarchy;  // that it made
  std::optional<std::string> output;
  MethodChoice method;
  std::optional<HiddenTiles> tiles;  // of the matrix
  long long narrow_memory = 0;  // of the matrix in floats whose fields are in floats too; else 0
  Json settings;                // that were given
  double shift = 0;
  bool has_guess = false;       // x began elsewhere than at 0
  std::vector<Report> reports;  // of each right-hand side
  std::vector<double> errors;   // |x - x*| / |x*| of each whose solution x* is known
  std::size_t reported = 0;     // the system that the report tells most of

  const Report& report() const { return reports.at(reported); }
  /// There is no x to be written, see `is_refused`.
  bool all_refused() const;
};

/// No iteration was made, nor can be: x is as it was given, and an older solution stays in its
/// file.
bool is_refused(const Report& report);

/// The first that is not solved, else the first of those that took the most iterations.
std::size_t most_telling(const std::vector<Report>& reports);

/// `device`: of all ranks.
ReportLines describe(const SolveOutcome& outcome, const Device& device);

}  // namespace heddle::cli
