#include "system_choice.hpp"

#include <utility>

#include "json_report.hpp"
#include "message.hpp"
#include "ranks/matrix_of_rank.hpp"
#include "singular_advice.hpp"
#include "solve_least_squares.hpp"
#include "solve_settings.hpp"
#include "stopwatch.hpp"

namespace heddle::cli {

namespace {

/// Takes a profile's settings for multigrid on this matrix, if the options leave them open.
void take_tuned_settings(const AnyMatrix& matrix, const Device& device, const Profiles& profiles,
                         SolveOutcome& outcome) {
  const auto tuned = profiles.choose_multigrid(subject_of(matrix), device,
                                               origin_of_candidates(outcome.multigrid));
  if (!tuned) return;
  const MultigridChoice named = ComposedChoice::parse(tuned->preconditioner).multigrid;
  outcome.preconditioner = tuned->preconditioner;
  outcome.multigrid.cycle = named.cycle;
  outcome.multigrid.smoother = named.smoother;
  outcome.multigrid.interpolation = named.interpolation;
  outcome.multigrid.level_precision = named.level_precision;
  outcome.multigrid.strength = tuned->strength;
  outcome.multigrid_reason = tuned->reason;
}

/// Reads candidates. `profiles` is null on ranks, because profiles have settings for one process.
void choose_multigrid(const SolveOptions& options, const Profiles* profiles, Progress* progress,
                      ChosenSystem& system) {
  SolveOutcome& outcome = system.outcome;
  outcome.multigrid = options.multigrid.read(system.preconditioner.multigrid, options.settings,
                                             system.matrix, system.device, progress);
  const bool is_open =
      outcome.preconditioner == "multigrid" && !options.multigrid.names_settings(options.settings);
  if (is_open) outcome.multigrid_reason = default_settings;
  if (is_open && profiles != nullptr) {
    take_tuned_settings(system.matrix, system.device, *profiles, outcome);
    system.preconditioner = ComposedChoice::parse(outcome.preconditioner);
  }
  system.preconditioner.multigrid = outcome.multigrid;
}

/// The preconditioner of rows from `first_row` on, with the facts known so far.
ChosenSystem begin(const SolveOptions& options, ReadSystem& system, Index first_row,
                   const Device& device) {
  ChosenPreconditioner chosen = choose_preconditioner_of_rows(
      system.preconditioner, system.read.matrix, first_row, options.shift, device);
  SolveOutcome outcome = outcome_of(options, system.read.matrix, chosen.choice, chosen.reason);
  outcome.tiles = hidden_tiles(system.read.matrix);
  outcome.units = chosen.units;
  return {.matrix = std::move(system.read.matrix),
          .preconditioner = std::move(chosen.choice),
          .device = device,
          .outcome = std::move(outcome)};
}

/// Reads right-hand sides from a file: their number counts in the choice of a plan.
std::optional<RightHandSide> read_right_hand_sides(SolveOptions& options, const AnyMatrix& matrix,
                                                   const Device& device, Progress* progress) {
  if (options.rhs.empty() || options.rhs == "ones") return std::nullopt;
  RightHandSide read = right_hand_side_of_file(options.rhs, options.right_hand_sides,
                                               rows_of(matrix), device, progress);
  check_block_columns(options, read.b.size());
  options.right_hand_sides = static_cast<int>(read.b.size());
  return read;
}

}  // namespace

std::string preconditioner_of(const SolveOptions& options) {
  return options.preconditioner.value_or(automatic);
}

ComposedChoice checked_preconditioner(const SolveOptions& options, const Device& device,
                                      bool on_ranks) {
  check_method(options.method);
  ComposedChoice preconditioner = ComposedChoice::parse(preconditioner_of(options));
  if (options.shift != 0) check_needs_no_entries(preconditioner);
  options.multigrid.check(preconditioner, options.settings);
  preconditioner.multigrid = with_settings(preconditioner.multigrid, options.settings);
  check(options, device);
  if (on_ranks) check_for_ranks(options);
  return preconditioner;
}

void check_for_ranks(const SolveOptions& options) {
  check_storage_for_ranks(options.storage);
  if (options.has_narrow_fields()) {
    throw Error(ErrorKind::usage, "--field-precision single is not for ranks");
  }
}

void check_storage_for_ranks(const StorageOption& storage) {
  if (!storage.is_hierarchical()) return;
  throw Error(ErrorKind::unsupported,
              "ranks share matrices in sliced storage, not in --storage hisparse");
}

ReadSystem read_system(const SolveOptions& options, const Device& device, bool on_ranks,
                       const std::function<AnyMatrix(Progress*)>& read) {
  ComposedChoice preconditioner = checked_preconditioner(options, device, on_ranks);
  Profiles profiles = options.profile.profiles_for({options.plan}, device);
  Stopwatch reading;
  const auto progress = options.matrix.progress();
  AnyMatrix matrix = read(progress.get());
  if (progress) progress->erase();
  return {{std::move(matrix), reading.seconds()}, std::move(preconditioner), std::move(profiles)};
}

ReadSystem read_system(const SolveOptions& options, const Device& device, bool on_ranks) {
  return read_system(options, device, on_ranks,
                     [&](Progress* progress) { return options.matrix.read(progress); });
}

SolveOutcome outcome_of(const SolveOptions& options, const AnyMatrix& matrix,
                        const ComposedChoice& preconditioner, const std::string& reason) {
  SolveOutcome outcome(facts_of(matrix, options.matrix.path));
  outcome.preconditioner = preconditioner_of(options);
  outcome.has_automatic_preconditioner = outcome.preconditioner == automatic;
  if (outcome.has_automatic_preconditioner) outcome.preconditioner = preconditioner.text();
  outcome.preconditioner_reason = reason;
  outcome.output = options.output;
  outcome.has_guess = !options.guess.empty();
  outcome.shift = options.shift;
  outcome.settings = json_of(options.settings, solve_uses);
  return outcome;
}

PlanChoice choose_solve_plan(const SolveOptions& options, const PlanSubject& matrix,
                             const MethodInfo* method, const Device& device,
                             const Profiles& profiles) {
  const Objective objective = method == nullptr
                                  ? Objective::product()
                                  : objective_of(*method, options.right_hand_sides.value_or(1));
  if (method == nullptr || options.shift != 0 || !is_listed(*method)) {
    return choice_without_copy(options.plan, matrix, device, objective, profiles);
  }
  return choice_for(options.plan, matrix, device, objective, profiles);
}

ChosenSystem choose_alone(SolveOptions& options, ReadSystem given, const Device& device,
                          Progress* progress) {
  Stopwatch choosing;
  const double read_seconds = given.read.seconds;
  const bool is_sliced = !options.storage.is_hierarchical();
  if (const auto reason = reason_for_least_squares(options, given.read.matrix)) {
    SolveOutcome outcome = outcome_of(options, given.read.matrix, given.preconditioner, "");
    ChosenSystem system{.matrix = std::move(given.read.matrix),
                        .preconditioner = std::move(given.preconditioner),
                        .device = device,
                        .outcome = std::move(outcome),
                        .least_squares = reason};
    if (is_sliced) {
      system.outcome.storage.choice =
          choose_solve_plan(options, subject_of(system.matrix), nullptr, device, given.profiles);
    }
    system.outcome.read_seconds = read_seconds + choosing.seconds();
    return system;
  }
  check_square(given.read.matrix, options);
  std::optional<RightHandSide> right_hand_side =
      read_right_hand_sides(options, given.read.matrix, device, progress);
  ChosenSystem system = begin(options, given, 0, device);
  system.right_hand_side = std::move(right_hand_side);
  SolveOutcome& outcome = system.outcome;
  outcome.method = choose_method(options.method, system.matrix, system.preconditioner, device);
  system.planned_for = outcome.method.method;
  if (is_sliced) {
    outcome.storage.choice = choose_solve_plan(options, subject_of(system.matrix),
                                               system.planned_for, device, given.profiles);
  }
  outcome.method.looks_at_diagonal(system.matrix, system.preconditioner, options.shift);
  if (options.shift == 0) outcome.rows_of_zeros = rows_of_zeros(system.matrix);
  choose_multigrid(options, &given.profiles, progress, system);
  outcome.read_seconds = read_seconds + choosing.seconds();
  return system;
}

ChosenSystem choose_on_ranks(const SolveOptions& options, ReadSystem given, const RowsOnRanks& rows,
                             const Device& device) {
  if (rows.of_all != given.read.matrix.columns()) {
    throw Error(ErrorKind::unsupported,
                "ranks share square matrices, not one of " + std::to_string(rows.of_all) +
                    " rows and " + std::to_string(given.read.matrix.columns()) + " columns");
  }
  Stopwatch choosing;
  const double read_seconds = given.read.seconds;
  ChosenSystem system = begin(options, given, rows.first_row, device);
  SolveOutcome& outcome = system.outcome;
  outcome.rows = rows.of_all;
  outcome.units = {};  // of these rows alone
  system.least_squares = reason_for_least_squares(options, system.matrix);
  const bool has_method = !system.least_squares;
  if (has_method) {
    outcome.method = choose_method(options.method, system.matrix, system.preconditioner, device);
    system.planned_for = outcome.method.method;
  }
  PlanChoice& plan = outcome.storage.choice;
  if (rows.subject != nullptr) {
    plan = choose_solve_plan(options, *rows.subject, system.planned_for, device, given.profiles);
  }
  // Done after the choice of a plan, so that plan and bits equal those of a solve without ranks.
  if (has_method) {
    outcome.method.looks_at_diagonal(system.matrix, system.preconditioner, options.shift);
  }
  if (is_chosen(options.plan)) distribute(plan);
  if (!plan.warning.empty() && !options.matrix.quiet) warn(plan.warning);
  choose_multigrid(options, nullptr, nullptr, system);
  outcome.read_seconds = read_seconds + choosing.seconds();
  return system;
}

ChosenSystem choose_on_ranks(const SolveOptions& options, ReadSystem given, const Device& device) {
  const PlanSubject subject = subject_of(given.read.matrix);
  const Index rows = given.read.matrix.rows();
  return choose_on_ranks(options, std::move(given), {0, rows, &subject}, device);
}

}  // namespace heddle::cli
