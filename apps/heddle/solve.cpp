// `heddle solve`: a system from a file, solved and reported.
#include <algorithm>
#include <optional>
#include <utility>

#include "any_case.hpp"
#include "commands.hpp"
#include "right_hand_side.hpp"
#include "setting_options.hpp"
#include "singular_advice.hpp"
#include "solve_alone.hpp"
#include "solve_least_squares.hpp"
#include "solve_on_ranks.hpp"
#include "solve_settings.hpp"
#include "tuning/planning/method_choice.hpp"
#include "whole_number.hpp"

namespace heddle::cli {

namespace {

/// The matrix in the storage that the options name, and what solves with it.
struct BuiltSystem {
  std::optional<AnyOperator> sliced;
  std::optional<StoredTree> tree;
  std::optional<AnySolver> solver;

  AnyLinearOperator matrix() const { return tree ? tree->matrix : AnyLinearOperator(*sliced); }
};

void make_solver(const SolveOptions& options, const SolveOutcome& outcome,
                 const SolverOptions& settings, BuiltSystem& built) {
  ComposedChoice preconditioner = ComposedChoice::parse(outcome.preconditioner);
  preconditioner.multigrid = outcome.multigrid;
  built.solver.reset();
  const MethodInfo& method = *outcome.method.method;
  if (built.tree) {
    built.solver.emplace(built.tree->matrix, built.tree->entries, method, preconditioner, settings,
                         options.shift);
    return;
  }
  built.solver.emplace(*built.sliced, method, preconditioner, settings, options.shift);
  if (options.has_narrow_fields()) built.solver->refine(*built.sliced, preconditioner);
}

/// Tells `outcome` of the storage.
BuiltSystem build(const SolveOptions& options, const AnyMatrix& matrix, const Device& device,
                  const SolverOptions& settings, SolveOutcome& outcome) {
  BuiltSystem built;
  try {
    if (options.storage.is_hierarchical()) {
      // A + sigma I has preconditioners of products alone.
      const NeededEntries needed =
          options.shift == 0 ? needed_entries(ComposedChoice::parse(outcome.preconditioner))
                             : NeededEntries::none;
      const NodeChoice choice =
          options.storage.choose(matrix, device, options.profile, TreeUse::product);
      built.tree.emplace(store_as_tree(matrix, choice, device, needed));
      outcome.tree = text_of(choice);
      outcome.choice.reason = choice.reason;
      if (needed != NeededEntries::none) outcome.memory = built.tree->entries.memory();
      make_solver(options, outcome, settings, built);
      return built;
    }
    options.profile.build(
        outcome.choice,
        [&](const Plan& plan) {
          built.solver.reset();
          built.sliced.emplace(matrix, plan, device);
          make_solver(options, outcome, settings, built);
        },
        [&] { return choose(options, matrix, *outcome.method.method, device, Profiles()); });
    outcome.memory = built.sliced->memory();
  } catch (const Error& error) {
    throw_with_advice(error);
  }
  return built;
}

/// What a profile knows of multigrid for the matrix, where the options leave its settings open.
void take_tuned_settings(const SolveOptions& options, const AnyMatrix& matrix, const Device& device,
                         const Profiles& profiles, SolveOutcome& outcome) {
  if (outcome.preconditioner != "multigrid" || options.multigrid.names_settings(options.settings))
    return;
  const auto tuned = profiles.choose_multigrid(subject_of(matrix), device,
                                               origin_of_candidates(outcome.multigrid));
  if (!tuned) {
    outcome.multigrid_reason = default_settings;
    return;
  }
  const MultigridChoice named = ComposedChoice::parse(tuned->preconditioner).multigrid;
  outcome.preconditioner = tuned->preconditioner;
  outcome.multigrid.cycle = named.cycle;
  outcome.multigrid.smoother = named.smoother;
  outcome.multigrid.interpolation = named.interpolation;
  outcome.multigrid.level_precision = named.level_precision;
  outcome.multigrid.strength = tuned->strength;
  outcome.multigrid_reason = tuned->reason;
}

}  // namespace

int solve_alone(const SolveOptions& given_options, std::optional<ReadMatrix> read,
                const std::string& rank_choice) {
  SolveOptions options = given_options;
  const Device device = options.matrix.on();
  check_method(options.method);
  ComposedChoice preconditioner = ComposedChoice::parse(preconditioner_of(options));
  if (options.shift != 0) check_needs_no_entries(preconditioner);
  options.multigrid.check(preconditioner, options.settings);
  preconditioner.multigrid = with_settings(preconditioner.multigrid, options.settings);
  check(options, device);
  const auto progress = options.matrix.progress();
  const Profiles profiles = options.profile.profiles_for({options.plan}, device);
  Stopwatch reading;
  AnyMatrix matrix = read ? std::move(read->matrix) : options.matrix.read(progress.get());
  const double read_before = read ? read->seconds : 0;
  if (const auto reason = reason_for_least_squares(options, matrix)) {
    return solve_least_squares(options, {matrix, *reason, device, profiles, progress.get(),
                                         reading.seconds() + read_before, rank_choice});
  }
  check_square(matrix, options);
  std::optional<RightHandSide> of_file;
  if (!options.rhs.empty() && options.rhs != "ones") {  // how many they are counts for the plan
    of_file = right_hand_side_of_file(options.rhs, options.right_hand_sides, rows_of(matrix),
                                      device, progress.get());
    check_block_columns(options, of_file->b.size());
    options.right_hand_sides = static_cast<int>(of_file->b.size());
  }
  const ChosenPreconditioner chosen =
      choose_preconditioner(preconditioner, matrix, options.shift, device);
  preconditioner = chosen.choice;
  SolveOutcome outcome = outcome_of(options, matrix, chosen);
  outcome.rank_choice = rank_choice;
  outcome.method = choose_method(options.method, matrix, preconditioner, device);
  if (!options.storage.is_hierarchical()) {
    outcome.choice = choose(options, matrix, *outcome.method.method, device, profiles);
  }
  outcome.multigrid = options.multigrid.read(preconditioner.multigrid, options.settings, matrix,
                                             device, progress.get());
  take_tuned_settings(options, matrix, device, profiles, outcome);
  outcome.read_seconds = reading.seconds() + read_before;

  Stopwatch building;
  const double tolerance = tolerance_of(options, outcome.precision);
  SolveWatch watch(progress.get());
  if (options.monitor) watch.show_table(tolerance);
  const SolverOptions settings = settings_of(options, watch);
  if (progress) progress->erase();
  BuiltSystem built = build(options, matrix, device, settings, outcome);
  const AnyLinearOperator A = built.matrix();
  const bool is_another = outcome.method.looks_ahead(matrix, A, preconditioner, options.shift);
  if (built.tree) matrix = AnyMatrix(CsrMatrix<real<double>>());  // the tree has all of it
  if (is_another) make_solver(options, outcome, settings, built);
  outcome.build_seconds = building.seconds();

  const RightHandSide given =
      of_file ? std::move(*of_file)
              : right_hand_side(options.rhs, options.right_hand_sides, options.seed, A,
                                options.shift, device, progress.get());
  outcome.right_hand_side = given.text;
  std::vector<AnyField> guess(given.b.size(), A.column_field());
  if (!options.guess.empty()) {
    guess = read_fields("--guess", options.guess, columns_of(A), static_cast<int>(given.b.size()),
                        device, progress.get())
                .fields;
  }
  const auto gives_way = [&] {
    if (!outcome.method.gives_way(outcome.report())) return false;
    make_solver(options, outcome, settings, built);
    return true;
  };
  const std::vector<AnyField> x = solve_repeatedly(
      options, watch, given.b, guess, [&]() -> AnySolver& { return *built.solver; }, gives_way,
      outcome);
  outcome.hierarchy = built.solver->multigrid();
  outcome.narrow_memory = built.solver->narrow_memory();
  for (std::size_t k = 0; k < given.exact.size(); ++k) {
    outcome.errors.push_back(relative_error(x[k], given.exact[k]));
  }

  Stopwatch writing;
  if (options.output && !outcome.all_refused()) {
    write_fields(*options.output, x, outcome.entry, progress.get());
  }
  write_history(options, outcome, built.solver->history(outcome.reported));
  outcome.write_seconds = writing.seconds();
  if (built.tree) outcome.tree_memory = built.tree->memory();
  if (progress) progress->erase();
  return tell(options, outcome, device);
}

namespace {

void add_system(CLI::App& command, SolveOptions& options) {
  command
      .add_option("--rhs", options.rhs,
                  "b: a file (.mtx, .npy, .txt), several side by side, or 'ones' (the number 1 "
                  "everywhere); without it b = A x* with a random x*, and the report shows the "
                  "error against that")
      ->type_name("FILE|ones");
  command
      .add_option("--right-hand-sides", options.right_hand_sides,
                  "systems with this matrix that are solved side by side; the report tells most "
                  "of the one that took longest [as many as --rhs has columns of, or 1]")
      ->transform(whole_number(1, 1000))
      ->type_name("N");
  command.add_option("--guess", options.guess, "where to start from; zero without it")
      ->type_name("FILE");
  command
      .add_option("-o,--output", options.output,
                  "where to write x, one entry a row: .mtx, .mtx.gz, .npy or .txt")
      ->type_name("FILE");
  command
      .add_option("--shift", options.shift,
                  "solve (A + SIGMA I) x = b with this real number, without storing that matrix")
      ->type_name("SIGMA");
}

void add_method(CLI::App& command, SolveOptions& options) {
  command.add_option("--solver", options.method, methods_in_words())
      ->capture_default_str()
      ->transform(any_case())
      ->type_name("NAME");
  command
      .add_option(
          "--preconditioner", options.preconditioner,
          preconditioners_in_words() + compositions_in_words() +
              "; auto is jacobi, or none with --shift and where a diagonal entry is missing or "
              "singular [auto]")
      ->transform(any_case())
      ->type_name("NAME[:N]...");
  add_settings(command, SettingUse::solver, {"tolerance", "max_iterations"}, options.settings);
  add_settings(command, SettingUse::solver, options.settings, "solver");
  add_settings(command, SettingUse::least_squares, options.settings, "solver");
  options.multigrid.add_to(command, options.settings);
}

void add_report(CLI::App& command, SolveOptions& options) {
  options.history.add_to(command);
  command
      .add_flag("--monitor", options.monitor,
                "a table of the residual on standard error, while it iterates; on a GPU as often "
                "as the host looks, about every 20 ms")
      ->group("output");
  command
      .add_option("--repetitions", options.repetitions,
                  "solve N times, each time from the guess; the report has the median time")
      ->capture_default_str()
      ->transform(whole_number(1, 100000))
      ->type_name("N")
      ->group("output");
  command.add_option("--seed", options.seed, "of the random solution")
      ->capture_default_str()
      ->transform(whole_number())
      ->group("output");
  command.add_flag("--json", options.json, "the report as one JSON object");
}

/// Those that fewer people use stand in the help of their group.
void set_groups(CLI::App& command) {
  constexpr std::pair<const char*, const char*> groups[] = {{"--entry-definition", "system"},
                                                            {"--right-hand-sides", "system"},
                                                            {"--guess", "system"},
                                                            {"--shift", "system"},
                                                            {"--plan", "storage"},
                                                            {"--profile", "storage"},
                                                            {"--history", "output"},
                                                            {"--plot", "output"}};
  for (const auto& [option, group] : groups) command.get_option(option)->group(group);
}

}  // namespace

void add_solve(CLI::App& app, int& status, Communicator* ranks) {
  auto options = std::make_shared<SolveOptions>();
  CLI::App* command = app.add_subcommand("solve", "Solve A x = b");
  options->matrix.add_to(*command);
  add_system(*command, *options);
  add_method(*command, *options);
  add_plan_option(*command, options->plan);
  options->storage.add_to(*command);
  options->ranks.add_to(*command, ranks != nullptr);
  options->profile.add_to(*command, options->matrix.quiet);
  add_report(*command, *options);
  add_settings_file(*command);
  set_groups(*command);
  command->footer(
      "Example: heddle solve dirac.mtx.gz --entry quaternion --tolerance 1e-8 --output x.mtx\n"
      "Exit status: 0 converged, 1 not converged, 2 bad input, 3 resources, 130 interrupted.");
  command->callback([options, &status, ranks] {
    if (ranks != nullptr) {
      status = solve_on_ranks(*options, *ranks);
    } else {
      options->ranks.check_use(options->matrix.processor.device);
      status = options->ranks.is_given() ? solve_on_ranks(*options) : solve_alone(*options);
    }
  });
}

}  // namespace heddle::cli
