#include "solve_settings.hpp"

#include <cmath>

#include "heddle/block_conjugate_gradient.hpp"
#include "io/field_files.hpp"
#include "solve_least_squares.hpp"

namespace heddle::cli {

namespace {

/// Checks that fields in floats are used only for solves in double, with a stored matrix on one
/// device.
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

}  // namespace

void check(const SolveOptions& options, const Device& device) {
  if (!std::isfinite(options.shift)) {
    throw Error(ErrorKind::usage, "--shift must be a finite number");
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
    throw Error(ErrorKind::usage, "--plan is for sliced storage, not for --storage hisparse");
  }
  RunFiles files;
  options.matrix.add_inputs(files);
  if (options.rhs != "ones") files.reads("--rhs", options.rhs);
  options.multigrid.add_inputs(files);
  options.profile.add_inputs(files);
  files.writes("--output", options.output);
  options.history.add_outputs(files);
  files.check();
  RunFiles kept;  // the solution may replace the guess, but no other input
  kept.reads("--guess", options.guess);
  options.history.add_outputs(kept);
  kept.check();
  if (options.output) io::check_field_path("--output", *options.output);
}

void check_block_columns(const SolveOptions& options, std::size_t right_hand_sides) {
  constexpr int most = BlockConjugateGradient<double>::max_columns;
  if (options.method != block_cg_method.info.name || right_hand_sides <= most) return;
  throw Error(ErrorKind::usage,
              "--solver " + options.method + " solves up to " + std::to_string(most) +
                  " systems at once, not --right-hand-sides " + std::to_string(right_hand_sides) +
                  "; the other solvers take any number");
}

void check_square(const AnyMatrix& matrix, const SolveOptions& options) {
  if (matrix.rows() == matrix.columns()) return;
  throw Error(
      ErrorKind::size_mismatch,
      options.matrix.path + " gives " + std::to_string(matrix.rows()) + " x " +
          std::to_string(matrix.columns()) + " entries; " +
          (options.method == "auto"
               ? "least squares needs entries with an adjoint, everything else a square matrix"
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

}  // namespace heddle::cli
