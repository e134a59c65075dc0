#include "solve_least_squares.hpp"

#include <filesystem>
#include <optional>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "base/text/names.hpp"
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
  std::optional<double> error;  // distance from x*, if that is the only solution
};

/// `reason` says why lsmr solves the system.
void refuse_other_options(const SolveOptions& options, const std::string& reason) {
  const auto refuse = [&](const std::string& option, const char* why) {
    throw Error(ErrorKind::usage, "lsmr (" + reason + ") does not take " + option + ": " + why);
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

/// The quantity that the tolerance applies to.
std::string gradient_in_words(bool is_damped) {
  return std::string("|A* r") + (is_damped ? " - D^2 x" : "") + "| / (|A| |r|)";
}

void describe_end(ReportLines& lines, const LeastSquaresOutcome& outcome, bool is_damped) {
  const LeastSquaresReport& report = outcome.report;
  describe_status(lines, report.status, report.iterations, report.detail);
  lines.add("residual",
            formatted("|r| / |b| = %.3e for r = b - A x, computed from x", report.residual),
            {{"residual", number_or_null(report.residual)},
             {"residual_norm", number_or_null(report.residual_norm)}});
  std::string text =
      formatted("%s = %.3e, computed from x; |A| is about %.2e",
                gradient_in_words(is_damped).c_str(), report.gradient, report.matrix_norm);
  if (report.restarts > 0) text += ", after " + std::to_string(report.restarts) + " restarts";
  lines.add("gradient", text,
            {{"gradient", number_or_null(report.gradient)},
             {"gradient_norm", number_or_null(report.gradient_norm)},
             {"matrix_norm", number_or_null(report.matrix_norm)},
             {"solution_norm", number_or_null(report.solution_norm)},
             {"condition", number_or_null(report.condition)},
             {"restarts", report.restarts},
             {"error", outcome.error ? number_or_null(*outcome.error) : Json()}});
  if (outcome.error) lines.add("error", formatted("|x - x*| / |x*| = %.3e", *outcome.error));
}

ReportLines describe(const SolveOptions& options, const LeastSquaresOutcome& outcome,
                     const Device& device) {
  const LeastSquaresReport& report = outcome.report;
  const StorageFacts& storage = outcome.storage;
  const double damping = options.of_least_squares().damping;
  ReportLines lines;
  describe_matrix(lines, outcome);
  describe_device(lines, device);
  describe_plan(lines, outcome);
  lines.add({{"solver_memory", outcome.solver_memory}});
  if (!storage.ranks) {
    lines.add("memory",
              (storage.tree.empty() ? to_string(storage.memory) : to_string(storage.tree_memory)) +
                  ", solver with the adjoint " + readable_bytes(outcome.solver_memory));
  }
  lines.add("system",
            std::string("min |A x - b|") + (damping != 0 ? "^2 + D^2 |x|^2" : "") +
                ", b = " + io::printable(outcome.right_hand_side),
            {{"damping", damping}});
  if (damping != 0) lines.add("damping", "D = " + Json(damping).dump());
  lines.add("solver", "lsmr: " + outcome.reason,
            {{"solver", lsmr_method.info.name},
             {"solver_reason", outcome.reason},
             {"preconditioner", "none"}});
  describe_end(lines, outcome, damping != 0);
  describe_times(lines, outcome, report.permute_seconds, report.iterate_seconds, report.iterations);
  lines.add({{"bytes_per_iteration", report.bytes_per_iteration},
             {"settings", json_of(options.settings, solve_uses)}});
  describe_written(
      lines, options.output,
      report.status == Status::not_finite ? "nothing: the solve was not finite" : nullptr);
  add_provenance(lines.json(), outcome.path, device);
  return lines;
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
                        matrix_in_words(outcome) + ", b = " + outcome.right_hand_side);
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
  std::string reason = is_rectangular ? reason_for_rectangular(matrix) : "by --damping";
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
  if (options.guess.empty()) return placement.matrix().column_field();
  return placement.read_guess(options.guess, 1).front();
}

/// Starts each solve from the guess. The report gets the median time.
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

/// `x` has all rows.
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
  ReportLines report = describe(options, outcome, device);
  tell(report, options.json, options.matrix.quiet);
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
  placement.store(system.matrix, TreeUse::both, outcome.storage, [&] {
    solver.reset();
    solver.emplace(placement.matrix(), settings);
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
