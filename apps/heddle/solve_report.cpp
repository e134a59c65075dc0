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

/// By which an iteration with multigrid has reduced the residual, in the mean; none where that is
/// not known.
std::optional<double> factor_of(const SolveOutcome& outcome) {
  const Report& report = outcome.report();
  if (!outcome.hierarchy || outcome.has_guess || report.iterations == 0) return std::nullopt;
  const double factor = std::pow(report.residual, 1 / static_cast<double>(report.iterations));
  return std::isfinite(factor) && factor > 0 ? std::optional(factor) : std::nullopt;
}

/// Advice for multigrid whose iterations leave so much that Jacobi's, of which a hundred and more
/// make 1e-10, would cost less. Nothing of settings that were found by measuring.
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
  return text + "another --strength than " + strength + ", or --preconditioner jacobi";
}

nlohmann::ordered_json error_of(const SolveOutcome& outcome, std::size_t system) {
  if (system >= outcome.errors.size()) return {};
  return number_or_null(outcome.errors[system]);
}

nlohmann::ordered_json json_of_multigrid(const SolveOutcome& outcome) {
  const MultigridChoice& choice = outcome.multigrid;
  nlohmann::ordered_json json = cli::to_json(*outcome.hierarchy, choice.level_precision);
  json["cycle"] = name(choice.cycle);
  json["smoother"] = name(choice.smoother);
  json["interpolation"] = name(choice.interpolation);
  json["reason"] = outcome.multigrid_reason.empty() ? "as named" : outcome.multigrid_reason;
  const std::optional<double> factor = factor_of(outcome);
  json["factor"] = factor ? nlohmann::ordered_json(*factor) : nullptr;
  return json;
}

nlohmann::ordered_json json_of_systems(const SolveOutcome& outcome) {
  nlohmann::ordered_json systems = nlohmann::ordered_json::array();
  for (std::size_t k = 0; k < outcome.reports.size(); ++k) {
    const Report& report = outcome.reports[k];
    systems.push_back({{"status", name(report.status)},
                       {"iterations", report.iterations},
                       {"residual", number_or_null(report.residual)},
                       {"returned", name(report.returned)},
                       {"error", error_of(outcome, k)}});
  }
  return systems;
}

void print_steps(const Report& report) {
  if (!report.interval && !report.omega) return;
  std::printf("steps      ");
  if (report.omega) std::printf("omega = %.6g%s", *report.omega, report.interval ? ", " : "\n");
  if (!report.interval) return;
  std::printf("eigenvalues of M^-1 A from %.6g to %.6g\n", report.interval->lower,
              report.interval->upper);
}

void print_systems(const SolveOutcome& outcome) {
  if (outcome.reports.size() == 1) return;
  long long least = outcome.report().iterations, most = least;
  std::size_t converged = 0;
  for (const Report& report : outcome.reports) {
    least = std::min(least, report.iterations);
    most = std::max(most, report.iterations);
    converged += report.converged() ? 1 : 0;
  }
  std::printf(
      "systems    %zu right-hand sides, %zu converged, %lld to %lld iterations; number %zu:\n",
      outcome.reports.size(), converged, least, most, outcome.reported + 1);
}

/// Threads that share fewer processors, as where a program has bound them, are slow. Of ranks each
/// has its own.
std::string text_of_processors(const SolveOutcome& outcome) {
  const int processors = outcome.report().processors;
  if (processors == 0 || outcome.storage.ranks) return "";
  return ", on " + std::to_string(processors) + (processors == 1 ? " processor" : " processors");
}

void print_memory(const SolveOutcome& outcome) {
  const StorageFacts& storage = outcome.storage;
  if (storage.ranks) return print(*storage.ranks);
  std::string text = to_string(storage.memory);
  if (!storage.tree.empty()) {
    text = to_string(storage.tree_memory);
    const long long of_preconditioner = storage.memory.total();
    if (of_preconditioner > 0) {
      text += ", entries for the preconditioner " + readable_bytes(of_preconditioner);
    }
  }
  if (outcome.narrow_memory > 0) text += ", in floats " + readable_bytes(outcome.narrow_memory);
  std::printf("memory     %s\n", text.c_str());
}

/// Which x a solve returned that has not converged.
const char* returned_in_words(const Report& report) {
  switch (report.returned) {
    case Returned::last:
      return "last: x of the last iteration";
    case Returned::best:
      return "best: x of the least residual that was looked at";
    default:
      return "guess: no iteration found a better x";
  }
}

/// Of a solve that began with floats.
std::string fields_of_last_runs(const SolveOutcome& outcome) {
  return outcome.report().stored == "own" ? "double" : "float";
}

/// How the solve ended, and the time that it took.
void print_result(const SolveOutcome& outcome) {
  const Report& report = outcome.report();
  print_steps(report);
  print_systems(outcome);
  print_status(report.status, report.iterations, report.detail);
  std::printf(
      "residual   |b - A x| / |b| = %.3e, computed from x (asked for %.1e)%s\n", report.residual,
      report.baseline_norm > 0 ? report.target_norm / report.baseline_norm : 0.0,
      report.restarts > 0 ? (", after " + std::to_string(report.restarts) + " restarts").c_str()
                          : "");
  if (!report.converged()) std::printf("returned   %s\n", returned_in_words(report));
  if (report.backward_error >= 0) {
    std::printf(
        "rounding   |b - A x| / (|A||x| + |b|) = %.1e, estimated: the backward error of x\n",
        report.backward_error);
  }
  if (outcome.reported < outcome.errors.size()) {
    std::printf("error      |x - x*| / |x*| = %.3e\n", outcome.errors[outcome.reported]);
  }
  if (outcome.tiles) std::printf("advice     %s\n", advice_on(*outcome.tiles).c_str());
  std::printf("time       read %s, build %s, permute %s, iterate %s\n",
              readable_seconds(outcome.read_seconds).c_str(),
              readable_seconds(outcome.build_seconds).c_str(),
              readable_seconds(report.permute_seconds).c_str(),
              readable_iterations(report.iterate_seconds, report.iterations).c_str());
  std::printf("bandwidth  %.1f GB/s: %s an iteration, modelled\n", report.bandwidth() / 1e9,
              readable_bytes(static_cast<double>(report.bytes_per_iteration)).c_str());
  print_written(outcome.output,
                outcome.all_refused() ? "nothing: the system was refused" : nullptr);
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
  std::size_t told = 0;
  for (std::size_t k = 1; k < reports.size(); ++k) {
    const bool is_as_good = reports[k].converged() == reports[told].converged();
    if (is_as_good ? reports[k].iterations > reports[told].iterations && reports[k].converged()
                   : !reports[k].converged()) {
      told = k;
    }
  }
  return told;
}

nlohmann::ordered_json to_json(const SolveOutcome& outcome, const Device& device) {
  const Report& report = outcome.report();
  nlohmann::ordered_json json;
  json["status"] = name(report.status);
  if (!report.detail.empty()) json["detail"] = report.detail;
  json["iterations"] = report.iterations;
  json["residual"] = number_or_null(report.residual);
  json["returned"] = name(report.returned);
  json["backward_error"] = number_or_null(report.backward_error);
  json["error"] = error_of(outcome, outcome.reported);
  json["shift"] = outcome.shift;
  json["solver"] = outcome.method.method->name;
  json["solver_reason"] = outcome.method.reason;
  json["interval"] = report.interval
                         ? nlohmann::ordered_json{report.interval->lower, report.interval->upper}
                         : nlohmann::ordered_json();
  json["omega"] = report.omega ? nlohmann::ordered_json(*report.omega) : nlohmann::ordered_json();
  json["preconditioner"] = outcome.preconditioner;
  json["preconditioner_reason"] = outcome.preconditioner_reason;
  if (outcome.tiles) json["advice"] = advice_on(*outcome.tiles);
  if (outcome.hierarchy) json["multigrid"] = json_of_multigrid(outcome);
  json["plan"] = outcome.storage.plan();
  json["plan_reason"] = outcome.storage.choice.reason;
  if (report.processors > 0 && !outcome.storage.ranks) json["processors"] = report.processors;
  json["loop"] = report.loop;
  json["stored"] = report.stored;
  if (!report.basis.empty()) json["basis"] = report.basis;
  if (outcome.narrow_memory > 0) json["fields"] = fields_of_last_runs(outcome);
  json["entry"] = outcome.entry.name();
  json["precision"] = name(outcome.precision);
  json["rows"] = outcome.rows;
  json["entries"] = outcome.entries;
  json["restarts"] = report.restarts;
  json["memory"] = outcome.storage.bytes() + outcome.narrow_memory;
  if (outcome.storage.ranks) json["ranks"] = to_json(*outcome.storage.ranks);
  if (!outcome.rank_choice.empty()) json["rank_choice"] = outcome.rank_choice;
  json["times"] = {{"read", outcome.read_seconds},
                   {"build", outcome.build_seconds},
                   {"permute", report.permute_seconds},
                   {"iterate", report.iterate_seconds},
                   {"write", outcome.write_seconds}};
  json["systems"] = json_of_systems(outcome);
  json["bytes_per_iteration"] = report.bytes_per_iteration;
  json["bandwidth"] = report.bandwidth();
  json["settings"] = outcome.settings;
  add_provenance(json, outcome.path, device);
  return json;
}

void print(const SolveOutcome& outcome, const Device& device) {
  const Report& report = outcome.report();
  print_matrix(outcome);
  std::printf("device     %s%s\n", device.description().c_str(),
              text_of_processors(outcome).c_str());
  print_plan(outcome);
  print_memory(outcome);
  std::printf(
      "system     b = %s, %s, preconditioner %s, loop %s, stored %s%s%s\n",
      io::printable(outcome.right_hand_side).c_str(),
      std::string(outcome.method.method->name).c_str(), outcome.preconditioner.c_str(),
      std::string(report.loop).c_str(), std::string(report.stored).c_str(),
      report.basis == "float" ? ", basis float" : "",
      outcome.narrow_memory > 0 ? (", fields " + fields_of_last_runs(outcome)).c_str() : "");
  if (outcome.shift != 0) {
    std::printf("shift      A + sigma I is not stored, sigma = %s\n",
                nlohmann::json(outcome.shift).dump().c_str());
  }
  std::printf("solver     %s: %s\n", std::string(outcome.method.method->name).c_str(),
              outcome.method.reason.c_str());
  if (outcome.has_automatic_preconditioner && outcome.shift == 0) {
    print_without_jacobi(outcome.preconditioner, outcome.preconditioner_reason);
  }
  if (!outcome.multigrid_reason.empty() && outcome.multigrid_reason != default_settings) {
    std::printf("multigrid  %s\n", io::printable(outcome.multigrid_reason).c_str());
  }
  if (outcome.hierarchy) {
    std::printf("levels     %s\n",
                text_of(*outcome.hierarchy, outcome.multigrid.level_precision).c_str());
  }
  if (const auto factor = factor_of(outcome)) {
    std::printf("factor     an iteration left %.2f of the residual%s\n", *factor,
                remedy_for(*factor, outcome).c_str());
  }
  print_result(outcome);
}

}  // namespace heddle::cli
