#include "solve_report.hpp"

#include <algorithm>
#include <cmath>
#include <cstdio>
#include <optional>

#include "heddle/tools/text.hpp"
#include "json_report.hpp"
#include "multigrid_report.hpp"
#include "readable.hpp"
#include "singular_advice.hpp"

namespace heddle::cli {

namespace {

/// The mean factor by which an iteration with multigrid has reduced the residual; none if unknown.
std::optional<double> factor_of(const SolveOutcome& outcome) {
  const Report& report = outcome.report();
  if (!outcome.hierarchy || outcome.has_guess || report.iterations == 0) return std::nullopt;
  const double factor = std::pow(report.residual, 1 / static_cast<double>(report.iterations));
  return std::isfinite(factor) && factor > 0 ? std::optional(factor) : std::nullopt;
}

/// Advice for a multigrid whose iterations reduce the residual so little (a hundred or more of them
/// for 1e-10) that Jacobi would cost less. There is none for settings that were found by measuring.
std::string remedy_for(double factor, const SolveOutcome& outcome) {
  constexpr double poor_factor = 0.8;
  const bool is_tuned =
      !outcome.multigrid_reason.empty() && outcome.multigrid_reason != default_settings;
  if (factor < poor_factor || is_tuned) return "";
  const MultigridChoice& choice = outcome.multigrid;
  const bool is_of_points = outcome.entry.name() == name(EntryKind::block2) ||
                            outcome.entry.name() == name(EntryKind::block3);
  std::string text = ": slow for multigrid; try ";
  if (outcome.tiles && !outcome.tiles->entry.empty()) {
    text += "--entry " + outcome.tiles->entry + " with --coordinates or --candidates, ";
  } else if (is_of_points && !choice.points) {
    text += "--coordinates, the points of the rows, ";
  }
  if (!choice.is_adaptive && !choice.candidates && !choice.points)
    text += "--candidates adaptive, ";
  char strength[32];
  std::snprintf(strength, sizeof strength, "%g", choice.strength);
  return text + "a --strength other than " + strength + ", or --preconditioner jacobi";
}

Json error_of(const SolveOutcome& outcome, std::size_t system) {
  if (system >= outcome.errors.size()) return {};
  return number_or_null(outcome.errors[system]);
}

/// The number, or null if there is none.
Json number_or_none(const std::optional<double>& number) { return number ? Json(*number) : Json(); }

void describe_multigrid(ReportLines& lines, const SolveOutcome& outcome) {
  if (!outcome.multigrid_reason.empty() && outcome.multigrid_reason != default_settings) {
    lines.add("multigrid", io::printable(outcome.multigrid_reason));
  }
  if (!outcome.hierarchy) return;
  const MultigridChoice& choice = outcome.multigrid;
  const std::optional<double> factor = factor_of(outcome);
  Json json = to_json(*outcome.hierarchy, choice.level_precision);
  json["cycle"] = name(choice.cycle);
  json["smoother"] = name(choice.smoother);
  json["interpolation"] = name(choice.interpolation);
  json["reason"] = outcome.multigrid_reason.empty() ? "as named" : outcome.multigrid_reason;
  json["factor"] = number_or_none(factor);
  lines.add("levels", text_of(*outcome.hierarchy, choice.level_precision), {{"multigrid", json}});
  if (!factor) return;
  lines.add("factor", formatted("an iteration left %.2f of the residual%s", *factor,
                                remedy_for(*factor, outcome).c_str()));
}

void describe_steps(ReportLines& lines, const Report& report) {
  const auto& interval = report.interval;
  lines.add({{"interval", interval ? Json{interval->lower, interval->upper} : Json()},
             {"omega", number_or_none(report.omega)}});
  std::string text;
  if (report.omega) text = formatted("omega = %.6g%s", *report.omega, interval ? ", " : "");
  if (interval) {
    text += formatted("eigenvalues of M^-1 A from %.6g to %.6g", interval->lower, interval->upper);
  }
  if (!text.empty()) lines.add("steps", text);
}

void describe_systems(ReportLines& lines, const SolveOutcome& outcome) {
  long long least = outcome.report().iterations, most = least;
  std::size_t converged = 0;
  Json systems = Json::array();
  for (std::size_t k = 0; k < outcome.reports.size(); ++k) {
    const Report& report = outcome.reports[k];
    least = std::min(least, report.iterations);
    most = std::max(most, report.iterations);
    converged += report.converged() ? 1 : 0;
    systems.push_back({{"status", name(report.status)},
                       {"iterations", report.iterations},
                       {"residual", number_or_null(report.residual)},
                       {"returned", name(report.returned)},
                       {"error", error_of(outcome, k)}});
  }
  lines.add({{"systems", systems}});
  if (outcome.reports.size() == 1) return;
  lines.add("systems",
            formatted("%zu right-hand sides, %zu converged, %lld to %lld iterations; number %zu:",
                      outcome.reports.size(), converged, least, most, outcome.reported + 1));
}

/// Threads that share fewer processors, for example because a program is bound to them, are slow.
/// Ranks each have their own processors.
std::string text_of_processors(const SolveOutcome& outcome) {
  const int processors = outcome.report().processors;
  if (processors == 0 || outcome.storage.ranks) return "";
  return ", on " + std::to_string(processors) + (processors == 1 ? " processor" : " processors");
}

void describe_memory(ReportLines& lines, const SolveOutcome& outcome) {
  const StorageFacts& storage = outcome.storage;
  lines.add({{"memory", storage.bytes() + outcome.narrow_memory}});
  if (storage.ranks) return;
  std::string text = to_string(storage.memory);
  if (!storage.tree.empty()) {
    text = to_string(storage.tree_memory);
    if (storage.copied_bytes > 0) {
      text += ", entries for the preconditioner " + readable_bytes(storage.copied_bytes);
    }
  }
  if (outcome.narrow_memory > 0) text += ", in floats " + readable_bytes(outcome.narrow_memory);
  lines.add("memory", text);
}

/// Describes the x that a solve returned without convergence.
const char* returned_in_words(const Report& report) {
  switch (report.returned) {
    case Returned::last:
      return "last: x of the last iteration";
    case Returned::best:
      return "best: x with the smallest residual that was checked";
    default:
      return "guess: no iteration found a better x";
  }
}

/// Precision of the fields in the last runs of a solve that began with floats.
std::string fields_of_last_runs(const SolveOutcome& outcome) {
  return outcome.report().stored == "own" ? "double" : "float";
}

void describe_solver(ReportLines& lines, const SolveOutcome& outcome) {
  const Report& report = outcome.report();
  const std::string method(outcome.method.method->name);
  std::string text = formatted("b = %s, %s, preconditioner %s, loop %s, stored %s",
                               io::printable(outcome.right_hand_side).c_str(), method.c_str(),
                               outcome.preconditioner.c_str(), std::string(report.loop).c_str(),
                               std::string(report.stored).c_str());
  if (report.basis == "float") text += ", basis float";
  if (outcome.narrow_memory > 0) text += ", fields " + fields_of_last_runs(outcome);
  lines.add("system", text,
            {{"shift", outcome.shift}, {"loop", report.loop}, {"stored", report.stored}});
  if (!report.basis.empty()) lines.add({{"basis", report.basis}});
  if (outcome.narrow_memory > 0) lines.add({{"fields", fields_of_last_runs(outcome)}});
  if (outcome.shift != 0) {
    lines.add("shift", "A + sigma I is not stored, sigma = " + Json(outcome.shift).dump());
  }
  lines.add("solver", method + ": " + outcome.method.reason,
            {{"solver", method},
             {"solver_reason", outcome.method.reason},
             {"preconditioner", outcome.preconditioner},
             {"preconditioner_reason", outcome.preconditioner_reason}});
  if (outcome.has_automatic_preconditioner && outcome.shift == 0 &&
      outcome.preconditioner == "none") {
    lines.add("jacobi", "not taken: " + outcome.preconditioner_reason);
  }
  if (outcome.units.count > 0) {
    lines.add("diagonal", outcome.units.text(), {{"unit_rows", outcome.units.count}});
  }
}

/// The end of the solve: how accurate x is, and which x it is.
void describe_end(ReportLines& lines, const SolveOutcome& outcome) {
  const Report& report = outcome.report();
  describe_status(lines, report.status, report.iterations, report.detail);
  std::string text =
      formatted("|b - A x| / |b| = %.3e, computed from x (asked for %.1e)", report.residual,
                report.baseline_norm > 0 ? report.target_norm / report.baseline_norm : 0.0);
  if (report.restarts > 0) text += ", after " + std::to_string(report.restarts) + " restarts";
  lines.add("residual", text,
            {{"residual", number_or_null(report.residual)},
             {"returned", name(report.returned)},
             {"backward_error", number_or_null(report.backward_error)},
             {"error", error_of(outcome, outcome.reported)},
             {"restarts", report.restarts}});
  if (!report.converged()) lines.add("returned", returned_in_words(report));
  if (const auto row = outcome.inconsistent_row) {
    lines.add(
        "unsolvable",
        "row " + std::to_string(*row) +
            " (counted from 0) of the matrix is zero, and b is not zero there: no x solves the "
            "system",
        {{"inconsistent_row", *row}});
  }
  if (report.backward_error >= 0) {
    lines.add("rounding",
              formatted("|b - A x| / (|A||x| + |b|) = %.1e, estimated: the backward error of x",
                        report.backward_error));
  }
  if (outcome.reported < outcome.errors.size()) {
    lines.add("error", formatted("|x - x*| / |x*| = %.3e", outcome.errors[outcome.reported]));
  }
}

}  // namespace

bool is_refused(const Report& report) {
  switch (report.status) {
    case Status::not_hermitian:
    case Status::not_symmetric:
    case Status::indefinite:
    case Status::breakdown:
    case Status::not_finite:
      return report.iterations == 0;
    default:
      return false;
  }
}

bool SolveOutcome::all_refused() const {
  return std::all_of(reports.begin(), reports.end(), is_refused);
}

std::size_t most_telling(const std::vector<Report>& reports) {
  std::size_t chosen = 0;
  for (std::size_t k = 1; k < reports.size(); ++k) {
    const bool is_as_good = reports[k].converged() == reports[chosen].converged();
    if (is_as_good ? reports[k].iterations > reports[chosen].iterations && reports[k].converged()
                   : !reports[k].converged()) {
      chosen = k;
    }
  }
  return chosen;
}

ReportLines describe(const SolveOutcome& outcome, const Device& device) {
  const Report& report = outcome.report();
  ReportLines lines;
  describe_matrix(lines, outcome);
  describe_device(lines, device, text_of_processors(outcome));
  if (report.processors > 0 && !outcome.storage.ranks) {
    lines.add({{"processors", report.processors}});
  }
  describe_plan(lines, outcome);
  describe_memory(lines, outcome);
  describe_solver(lines, outcome);
  describe_multigrid(lines, outcome);
  describe_steps(lines, report);
  describe_systems(lines, outcome);
  describe_end(lines, outcome);
  if (outcome.tiles) {
    lines.add("advice", advice_on(*outcome.tiles), {{"advice", advice_on(*outcome.tiles)}});
  }
  describe_times(lines, outcome, report.permute_seconds, report.iterate_seconds, report.iterations);
  lines.add("bandwidth",
            formatted("%.1f GB/s: %s an iteration, modelled", report.bandwidth() / 1e9,
                      readable_bytes(static_cast<double>(report.bytes_per_iteration)).c_str()),
            {{"bytes_per_iteration", report.bytes_per_iteration},
             {"bandwidth", report.bandwidth()},
             {"settings", outcome.settings}});
  describe_written(lines, outcome.output,
                   outcome.all_refused() ? "nothing: the system was refused" : nullptr);
  add_provenance(lines.json(), outcome.path, device);
  return lines;
}

}  // namespace heddle::cli
