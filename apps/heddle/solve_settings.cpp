#include "solve_settings.hpp"

#include <cmath>
#include <filesystem>
#include <iostream>
#include <utility>

#include "heddle/block_conjugate_gradient.hpp"
#include "heddle/tools/text.hpp"
#include "io/field_files.hpp"
#include "json_report.hpp"
#include "output_path.hpp"
#include "right_hand_side.hpp"
#include "singular_advice.hpp"
#include "solve_least_squares.hpp"

namespace heddle::cli {

namespace {

/// Of a picture, and the line below that.
std::string picture_title(const SolveOutcome& outcome) {
  return std::filesystem::path(outcome.path).filename().string() + ": " +
         std::string(outcome.method.method->name) + ", preconditioner " + outcome.preconditioner;
}
/// Fields in floats are of solves in double, of a stored matrix that one device has.
void check_field_precision(const SolveOptions& options) {
  if (!options.has_narrow_fields()) return;
  const auto refuse = [](const std::string& what) {
    throw Error(ErrorKind::usage, "--field-precision single is not for " + what);
  };
  if (options.matrix.precision == "single") refuse("--precision single, whose fields are floats");
  if (options.shift != 0) refuse("--shift");
  if (options.ranks.is_given()) refuse("--ranks");
  if (options.storage.is_hierarchical()) refuse("--storage hisparse");
  if (options.method == block_cg_method.info.name) refuse("--solver " + options.method);
}

std::string system_in_words(const SolveOutcome& outcome) {
  const std::string rows = readable_count(outcome.rows);
  return rows + " x " + rows + " " + std::string(outcome.entry.name()) + " entries (" +
         std::string(name(outcome.precision)) + "), b = " + outcome.right_hand_side;
}

}  // namespace

std::string preconditioner_of(const SolveOptions& options) {
  return options.preconditioner.value_or(automatic);
}

void check(const SolveOptions& options, const Device& device) {
  if (!std::isfinite(options.shift)) {
    throw Error(ErrorKind::usage, "--shift is a finite number");
  }
  check_for_method(options.settings, options.method);
  check_field_precision(options);
  check_least_squares(options);
  check_block_columns(options, static_cast<std::size_t>(options.right_hand_sides.value_or(1)));
  if (options.monitor && options.matrix.quiet) {
    throw Error(ErrorKind::usage, "--monitor shows what --quiet hides: give one of them");
  }
  check_plan_text(options.plan, device);
  options.storage.check_use({options.plan}, options.profile);
  if (options.storage.is_hierarchical() && !options.plan.empty()) {
    throw Error(ErrorKind::usage, "--plan is of sliced storage, not of --storage hisparse");
  }
  RunFiles files;
  options.matrix.add_inputs(files);
  if (options.rhs != "ones") files.reads("--rhs", options.rhs);
  options.multigrid.add_inputs(files);
  options.profile.add_inputs(files);
  files.writes("--output", options.output);
  options.history.add_outputs(files);
  files.check();
  RunFiles kept;  // a guess may give way to the solution, to nothing else
  kept.reads("--guess", options.guess);
  options.history.add_outputs(kept);
  kept.check();
  if (options.output) io::check_field_path("--output", *options.output);
}

void check_block_columns(const SolveOptions& options, std::size_t right_hand_sides) {
  constexpr int most = BlockConjugateGradient<double>::most_columns;
  if (options.method != block_cg_method.info.name || right_hand_sides <= most) return;
  throw Error(ErrorKind::usage,
              "--solver " + options.method + " solves up to " + std::to_string(most) +
                  " systems at once, not --right-hand-sides " + std::to_string(right_hand_sides) +
                  "; the other solvers take any number");
}

void check_square(const AnyMatrix& matrix, const SolveOptions& options) {
  if (matrix.rows() == matrix.columns()) return;
  throw Error(ErrorKind::size_mismatch,
              options.matrix.path + " makes " + std::to_string(matrix.rows()) + " x " +
                  std::to_string(matrix.columns()) + " entries; " +
                  (options.method == "auto"
                       ? "least squares need entries with an adjoint, and all else a square matrix"
                       : options.method + " needs a square matrix, --solver lsmr does not"));
}

double tolerance_of(const SolveOptions& options, Precision precision) {
  const double tolerance = options.of_method().solver.tolerance;
  if (tolerance != SolverOptions::by_precision) return tolerance;
  return precision == Precision::single_precision ? 1e-5 : 1e-10;
}

SolverOptions settings_of(const SolveOptions& options, SolveWatch& watch) {
  SolverOptions settings = options.of_method().solver;
  settings.record_history = options.history.wanted();
  watch.listen(settings);
  return settings;
}

PlanChoice choose(const SolveOptions& options, const AnyMatrix& matrix, const MethodInfo& method,
                  const Device& device, const Profiles& profiles) {
  return choose(options, subject_of(matrix), method, device, profiles);
}

PlanChoice choose(const SolveOptions& options, const PlanSubject& matrix, const MethodInfo& method,
                  const Device& device, const Profiles& profiles) {
  const Objective objective = objective_of(method, options.right_hand_sides.value_or(1));
  if (options.shift != 0 || !is_listed(method)) {
    return choice_without_copy(options.plan, matrix, device, objective, profiles);
  }
  return choice_for(options.plan, matrix, device, objective, profiles);
}

SolveOutcome outcome_of(const SolveOptions& options, const AnyMatrix& matrix,
                        const ChosenPreconditioner& preconditioner) {
  SolveOutcome outcome;
  outcome.path = options.matrix.path;
  outcome.preconditioner = preconditioner_of(options);
  outcome.has_automatic_preconditioner = outcome.preconditioner == automatic;
  if (outcome.has_automatic_preconditioner) {
    outcome.preconditioner = preconditioner.choice.text();
  }
  outcome.preconditioner_reason = preconditioner.reason;
  outcome.output = options.output;
  outcome.has_guess = !options.guess.empty();
  outcome.shift = options.shift;
  outcome.settings = json_of(options.settings, solve_uses);
  outcome.entry = matrix.entry();
  outcome.precision = matrix.precision();
  outcome.rows = matrix.rows();
  outcome.entries = matrix.entries();
  outcome.tiles = hidden_tiles(matrix);
  return outcome;
}

std::vector<AnyField> solve_repeatedly(const SolveOptions& options, SolveWatch& watch,
                                       const std::vector<AnyField>& b,
                                       const std::vector<AnyField>& guess,
                                       const std::function<AnySolver&()>& solver,
                                       const std::function<bool()>& gives_way,
                                       SolveOutcome& outcome) {
  std::vector<AnyField> x;
  const auto solve_once = [&] {
    x = guess;
    watch.begin(solver(), outcome.method, b.size());
    outcome.reports = solver().solve(b, x);
    outcome.reported = most_telling(outcome.reports);
    watch.end(outcome.report(), outcome.reported);
  };
  std::vector<double> seconds;
  for (int repetition = 0; repetition < options.repetitions; ++repetition) {
    solve_once();
    while (gives_way()) solve_once();
    seconds.push_back(outcome.report().iterate_seconds);
  }
  outcome.reports[outcome.reported].iterate_seconds = median(std::move(seconds));
  return x;
}

int tell(const SolveOptions& options, const SolveOutcome& outcome, const Device& device) {
  if (options.json) {
    std::cout << text_of(to_json(outcome, device));
  } else if (!options.matrix.quiet) {
    print(outcome, device);
  }
  return outcome.report().converged() ? 0 : 1;
}

void write_history(const SolveOptions& options, const SolveOutcome& outcome,
                   const std::vector<double>& residuals) {
  options.history.write(
      history_of(residuals, outcome.report(), tolerance_of(options, outcome.precision)),
      picture_title(outcome), system_in_words(outcome));
}

}  // namespace heddle::cli
