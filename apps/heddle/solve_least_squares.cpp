#include "solve_least_squares.hpp"

#include <cstdio>
#include <filesystem>
#include <iostream>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/names.hpp"
#include "heddle/runtime/any_least_squares.hpp"
#include "heddle/tools/text.hpp"
#include "json_report.hpp"
#include "readable.hpp"
#include "right_hand_side.hpp"
#include "singular_advice.hpp"
#include "solve_history.hpp"
#include "solve_settings.hpp"
#include "solve_watch.hpp"
#include "stopwatch.hpp"
#include "tuning/planning/hidden_tiles.hpp"
#include "tuning/planning/method_choice.hpp"

namespace heddle::cli {

namespace {

struct LeastSquaresOutcome : RunFacts {
  explicit LeastSquaresOutcome(const RunFacts& facts) : RunFacts(facts) {}

  std::string reason;
  long long solver_memory = 0;
  LeastSquaresReport report;
  std::optional<double> error;  // against x*, where that is the only solution
};

/// `reason`: why lsmr solves.
void refuse_other_options(const SolveOptions& options, const std::string& reason) {
  const auto refuse = [&](const std::string& option, const char* why) {
    throw Error(ErrorKind::usage,
                "lsmr solves (" + reason + "), and " + option + " is not for it: " + why);
  };
  if (const std::string named = preconditioner_of(options); named != automatic && named != "none") {
    refuse("--preconditioner " + *options.preconditioner, "it takes none");
  }
  if (options.shift != 0) refuse("--shift", "see --damping");
  for (const Settings::Given& given : options.settings.given()) {
    const SettingRow& row = *given.setting;
    if (has_setting(SettingUse::least_squares, row.name) || row.use == SettingUse::multigrid)
      continue;
    if (is_same_name(given.value, row.by_default)) continue;
    refuse(given.spelling + " " + given.value, row.name == "keep" ? "its residual never grows"
                                               : row.name == "field_precision"
                                                   ? "it keeps its own fields"
                                                   : "it has no such setting");
  }
  if (options.right_hand_sides.value_or(1) != 1) {
    refuse("--right-hand-sides", "it solves one at a time");
  }
}

nlohmann::ordered_json to_json(const SolveOptions& options, const LeastSquaresOutcome& outcome,
                               const Device& device) {
  const LeastSquaresReport& report = outcome.report;
  nlohmann::ordered_json json;
  json["status"] = name(report.status);
  if (!report.detail.empty()) json["detail"] = report.detail;
  json["iterations"] = report.iterations;
  json["residual"] = number_or_null(report.residual);
  json["gradient"] = number_or_null(report.gradient);
  json["residual_norm"] = number_or_null(report.residual_norm);
  json["gradient_norm"] = number_or_null(report.gradient_norm);
  json["solution_norm"] = number_or_null(report.solution_norm);
  json["matrix_norm"] = number_or_null(report.matrix_norm);
  json["condition"] = number_or_null(report.condition);
  json["error"] = outcome.error ? number_or_null(*outcome.error) : nlohmann::ordered_json();
  json["damping"] = options.of_least_squares().damping;
  json["solver"] = lsmr_method.info.name;
  json["solver_reason"] = outcome.reason;
  json["preconditioner"] = "none";
  json["plan"] = outcome.storage.plan();
  json["plan_reason"] = outcome.storage.choice.reason;
  json["entry"] = outcome.entry.name();
  json["precision"] = name(outcome.precision);
  json["rows"] = outcome.rows;
  json["columns"] = outcome.columns;
  json["entries"] = outcome.entries;
  json["restarts"] = report.restarts;
  json["memory"] = outcome.storage.bytes();
  json["solver_memory"] = outcome.solver_memory;
  if (!outcome.rank_choice.empty()) json["rank_choice"] = outcome.rank_choice;
  if (outcome.storage.ranks) json["ranks"] = to_json(*outcome.storage.ranks);
  json["times"] = {{"read", outcome.read_seconds},
                   {"build", outcome.build_seconds},
                   {"permute", report.permute_seconds},
                   {"iterate", report.iterate_seconds},
                   {"write", outcome.write_seconds}};
  json["bytes_per_iteration"] = report.bytes_per_iteration;
  json["settings"] = json_of(options.settings, solve_uses);
  add_provenance(json, outcome.path, device);
  return json;
}

/// What the tolerance is on.
std::string gradient_in_words(bool is_damped) {
  return std::string("|A* r") + (is_damped ? " - D^2 x" : "") + "| / (|A| |r|)";
}

void print(const SolveOptions& options, const LeastSquaresOutcome& outcome, const Device& device) {
  const LeastSquaresReport& report = outcome.report;
  const StorageFacts& storage = outcome.storage;
  const double damping = options.of_least_squares().damping;
  print_matrix(outcome);
  std::printf("device     %s\n", device.description().c_str());
  print_plan(outcome);
  if (storage.ranks) {
    print(*storage.ranks);
  } else {
    std::printf(
        "memory     %s, solver with the adjoint %s\n",
        (storage.tree.empty() ? to_string(storage.memory) : to_string(storage.tree_memory)).c_str(),
        readable_bytes(outcome.solver_memory).c_str());
  }
  std::printf("system     min |A x - b|%s, b = %s\n", damping != 0 ? "^2 + D^2 |x|^2" : "",
              io::printable(outcome.right_hand_side).c_str());
  if (damping != 0) std::printf("damping    D = %s\n", nlohmann::json(damping).dump().c_str());
  std::printf("solver     lsmr: %s\n", outcome.reason.c_str());
  print_status(report.status, report.iterations, report.detail);
  std::printf("residual   |r| / |b| = %.3e for r = b - A x, computed from x\n", report.residual);
  std::printf("gradient   %s = %.3e, computed from x; |A| is about %.2e%s\n",
              gradient_in_words(damping != 0).c_str(), report.gradient, report.matrix_norm,
              report.restarts > 0
                  ? (", after " + std::to_string(report.restarts) + " restarts").c_str()
                  : "");
  if (outcome.error) std::printf("error      |x - x*| / |x*| = %.3e\n", *outcome.error);
  std::printf("time       read %s, build %s, permute %s, iterate %s\n",
              readable_seconds(outcome.read_seconds).c_str(),
              readable_seconds(outcome.build_seconds).c_str(),
              readable_seconds(report.permute_seconds).c_str(),
              readable_iterations(report.iterate_seconds, report.iterations).c_str());
  print_written(options.output, report.status == Status::not_finite
                                    ? "nothing: the solve was not finite"
                                    : nullptr);
}

LeastSquaresOptions least_squares_settings(const SolveOptions& options, SolveWatch& watch) {
  LeastSquaresOptions settings = options.of_least_squares();
  settings.record_history = options.history.wanted();
  watch.listen(settings);
  return settings;
}

report::ConvergenceNames table_names(bool is_damped) {
  return {"gradient", "|r| / |b|", gradient_in_words(is_damped)};
}

void write_history(const SolveOptions& options, const LeastSquaresOutcome& outcome,
                   const LeastSquaresHistory& history, double tolerance) {
  const LeastSquaresReport& report = outcome.report;
  const std::string gradient = gradient_in_words(options.of_least_squares().damping != 0);
  options.history.write({{{"relative_gradient", "gradient " + gradient + " of the recurrence",
                           &history.gradients, gradient, report.gradient},
                          {"relative_residual", "residual |r| / |b| of the recurrence",
                           &history.residuals, "|b - A x| / |b|", report.residual}},
                         "relative gradient and residual",
                         tolerance,
                         report.status,
                         report.iterations},
                        std::filesystem::path(outcome.path).filename().string() + ": lsmr",
                        readable_count(outcome.rows) + " x " + readable_count(outcome.columns) +
                            " " + std::string(outcome.entry.name()) + " entries (" +
                            std::string(name(outcome.precision)) +
                            "), b = " + outcome.right_hand_side);
}

}  // namespace

void check_least_squares(const SolveOptions& options) {
  if (options.method == lsmr_method.info.name) refuse_other_options(options, "by --solver");
  if (!options.settings.has("damping")) return;
  if (options.method != "auto" && options.method != lsmr_method.info.name) {
    throw Error(ErrorKind::usage,
                "--damping is of least squares: give --solver lsmr, not " + options.method);
  }
}

std::optional<std::string> reason_for_least_squares(const SolveOptions& options,
                                                    const AnyMatrix& matrix) {
  if (options.method == lsmr_method.info.name) return "by --solver";
  const bool is_rectangular = matrix.rows() != matrix.columns();
  if (options.method != "auto" || (!is_rectangular && !options.settings.has("damping")))
    return std::nullopt;
  const bool has_adjoint = std::visit([](const auto& entry) { return entry->adjoint != nullptr; },
                                      detail::entry_table_of(matrix));
  if (!has_adjoint && !options.settings.has("damping")) return std::nullopt;
  std::string reason = is_rectangular ? told_rectangular(matrix) : "by --damping";
  if (const auto entry = entry_of_first_columns(matrix)) {
    reason += ", which --entry " + std::string(name(*entry)) + " reads";
  }
  refuse_other_options(options, reason);
  return reason;
}

namespace {

double tolerance_of_least_squares(const SolveOptions& options, Precision precision) {
  const double given = options.of_least_squares().tolerance;
  if (given != LeastSquaresOptions::by_precision) return given;
  return precision == Precision::single_precision ? 1e-5 : 1e-8;
}

AnyField guess_of(const SolveOptions& options, const Placement& placement) {
  if (options.guess.empty()) return placement.system().matrix().column_field();
  return placement.read_guess(options.guess, 1).front();
}

/// Solves each time from the guess. The report gets the median time.
AnyField solve_repeatedly(const SolveOptions& options, const AnyField& b, const AnyField& guess,
                          AnyLeastSquares& solver, SolveWatch& watch, LeastSquaresReport& report) {
  AnyField x = guess;
  std::vector<double> seconds;
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    x = guess;
    watch.begin(solver);
    report = solver.solve(b, x);
    watch.end(report);
    seconds.push_back(report.iterate_seconds);
  }
  report.iterate_seconds = median(std::move(seconds));
  return x;
}

/// `x`: of all rows.
void write_and_tell(const SolveOptions& options, const AnyField& x,
                    const LeastSquaresHistory& history, const Device& device,
                    TerminalProgress* progress, LeastSquaresOutcome& outcome) {
  Stopwatch writing;
  if (options.output && outcome.report.status != Status::not_finite) {
    x.write(*options.output, outcome.entry, progress);
  }
  write_history(options, outcome, history, tolerance_of_least_squares(options, outcome.precision));
  outcome.write_seconds = writing.seconds();
  if (progress != nullptr) progress->erase();
  if (options.json) {
    std::cout << text_of(to_json(options, outcome, device));
  } else if (!options.matrix.quiet) {
    print(options, outcome, device);
  }
}

}  // namespace

int solve_least_squares(const SolveOptions& options, const ChosenSystem& system,
                        Placement& placement, const std::function<void()>& stored) {
  check_adjoint(system.matrix);
  LeastSquaresOutcome outcome(system.outcome);
  outcome.reason = *system.least_squares;
  Stopwatch building;
  SolveWatch watch(placement.progress());
  if (options.monitor && placement.is_first()) {
    watch.show_table(tolerance_of_least_squares(options, outcome.precision),
                     table_names(options.of_least_squares().damping != 0));
  }
  const LeastSquaresOptions settings = least_squares_settings(options, watch);
  std::optional<AnyLeastSquares> solver;
  placement.store(system.matrix, NeededEntries::none, TreeUse::both, outcome.storage, [&] {
    solver.reset();
    solver.emplace(placement.system().matrix(), settings);
  });
  stored();
  outcome.solver_memory = placement.total(solver->memory());
  outcome.build_seconds = building.seconds();

  const RightHandSide given = placement.right_hand_side({options.rhs, 1, options.seed, 0});
  outcome.right_hand_side = given.text;
  outcome.read_seconds += given.read_seconds;
  LeastSquaresReport& report = outcome.report;
  AnyField x = solve_repeatedly(options, given.b.front(), guess_of(options, placement), *solver,
                                watch, report);
  placement.tell(outcome.storage);
  report.bytes_per_iteration = placement.total(report.bytes_per_iteration);
  x = placement.whole(std::move(x));
  const bool has_one_solution = outcome.rows >= outcome.columns && settings.damping == 0;
  if (!given.exact.empty() && has_one_solution) {
    outcome.error = relative_error(x, given.exact.front());
  }
  placement.on_first([&] {
    write_and_tell(options, x, solver->history(), system.device, placement.progress(), outcome);
  });
  return report.converged() ? 0 : 1;
}

}  // namespace heddle::cli
