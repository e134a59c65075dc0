// `heddle eigen`: the smallest eigenpairs of a Hermitian matrix, found and reported.
#include <algorithm>
#include <cstdio>
#include <iostream>
#include <limits>
#include <nlohmann/json.hpp>
#include <optional>

#include "any_case.hpp"
#include "commands.hpp"
#include "eigen_settings.hpp"
#include "heddle/tools/text.hpp"
#include "io/field_files.hpp"
#include "json_report.hpp"
#include "matrix_options.hpp"
#include "output_path.hpp"
#include "setting_options.hpp"
#include "tuning/planning/method_choice.hpp"

namespace heddle::cli {

namespace {

/// As `preconditioners_in_words`, without those that LOBPCG refuses.
std::string suitable_preconditioners() {
  std::string words;
  for (const PreconditionerInfo& info : preconditioner_table()) {
    if (!info.is_hermitian || info.varies) continue;
    words += (words.empty() ? "" : ", ") + in_words(info);
  }
  return words;
}

}  // namespace

void check(const EigenCommand& options, const Device& device) {
  if (const auto choice = ComposedChoice::parse(options.preconditioner);
      !choice.is_hermitian() || choice.varies()) {
    throw Error(ErrorKind::usage, std::string("LOBPCG needs a ") +
                                      (choice.varies() ? "constant " : "") +
                                      "Hermitian preconditioner, not " + options.preconditioner +
                                      "; there are " + suitable_preconditioners() +
                                      ", and compositions that read the same from both ends");
  }
  check_plan_text(options.plan, device);
  options.storage.check_use({options.plan}, options.profile);
  if (options.storage.is_hierarchical() && !options.plan.empty()) {
    throw Error(ErrorKind::usage, "--plan is of sliced storage, not of --storage hisparse");
  }
  if (options.output) io::check_field_path("--output", *options.output);
  RunFiles files;
  options.matrix.add_inputs(files);
  files.reads("--mass", options.mass);
  options.profile.add_inputs(files);
  for (int k = 1; options.output && k <= options.of_solver().count; ++k) {
    files.writes("--output", numbered(*options.output, k));
  }
  files.check();
}

EigenOptions settings_of(const EigenCommand& options, Progress* progress) {
  EigenOptions settings = options.of_solver();
  if (progress != nullptr) {
    settings.observer = [progress](const SolveProgress& now) {
      char text[64];
      std::snprintf(text, sizeof text, "iteration %lld, residual %.1e", now.iteration,
                    now.relative_residual);
      progress->report(-1, text);
      return true;
    };
  }
  return settings;
}

AnyMatrix read_square(const EigenCommand& options, const std::string& path, Progress* progress) {
  AnyMatrix matrix = options.matrix.read(path, progress);
  if (matrix.rows() == matrix.columns()) return matrix;
  throw Error(ErrorKind::size_mismatch, path + " makes " + std::to_string(matrix.rows()) + " x " +
                                            std::to_string(matrix.columns()) +
                                            " entries; eigenvalues are those of a square matrix");
}

int dimensions_of(const AnyLinearOperator& matrix) {
  return matrix.visit([](const auto& A) {
    const Offset dimensions =
        all_rows(A->rows(), A->device().stream()) * A->row_components() / ring_size(A->ring());
    return static_cast<int>(std::clamp<Offset>(dimensions, 1, std::numeric_limits<int>::max()));
  });
}

Objective product_objective(const EigenCommand& options) {
  return Objective::product(options.of_solver().count);
}

FoundPairs found_in(const EigenCommand& options, const AnyMatrix& matrix, const Device& device) {
  FoundPairs found;
  const ChosenPreconditioner chosen =
      choose_preconditioner(ComposedChoice::parse(options.preconditioner), matrix, 0, device);
  found.preconditioner =
      options.preconditioner == automatic ? chosen.choice.text() : options.preconditioner;
  found.preconditioner_reason = chosen.reason;
  found.entry = matrix.entry();
  found.precision = matrix.precision();
  found.rows = matrix.rows();
  found.entries = matrix.entries();
  return found;
}

void write_and_tell(const EigenCommand& options, std::vector<AnyField>& x, const Device& device,
                    TerminalProgress* progress, FoundPairs& found) {
  Stopwatch writing;
  if (options.output && !found.report.eigenvalues.empty()) {
    for (int k = 0; k < found.count; ++k) {
      x[static_cast<std::size_t>(k)].write(numbered(*options.output, k + 1), found.entry, progress);
    }
  }
  found.write_seconds = writing.seconds();
  if (progress != nullptr) progress->erase();
  if (options.json) {
    std::cout << text_of(to_json(options, found, device));
  } else if (!options.matrix.quiet) {
    print(options, found, device);
  }
}

namespace {

/// The matrix and its solver; trees where that is the storage.
struct EigenProblem {
  std::optional<StoredTree> tree, tree_of_mass;
  std::optional<AnyLinearOperator> matrix;
  std::optional<AnyEigenSolver> solver;

  void take(const AnyLinearOperator& A, const EigenCommand& options, EigenOptions& settings) {
    solver.reset();
    matrix.emplace(A);
    if (!options.settings.has("count")) settings.count = std::min(settings.count, dimensions_of(A));
  }
};

/// Tells `found` of the storage.
EigenProblem build(const EigenCommand& options, const AnyMatrix& matrix,
                   const std::optional<AnyMatrix>& mass, const Device& device,
                   EigenOptions& settings, FoundPairs& found) {
  const ComposedChoice preconditioner = ComposedChoice::parse(found.preconditioner);
  EigenProblem problem;
  if (options.storage.is_hierarchical()) {
    const NodeChoice choice =
        options.storage.choose(matrix, device, options.profile, TreeUse::product);
    found.tree = text_of(choice);
    found.choice.reason = choice.reason;
    problem.tree.emplace(store_as_tree(matrix, choice, device, needed_entries(preconditioner)));
    if (mass) problem.tree_of_mass.emplace(store_as_tree(*mass, choice, device));
    const StoredTree& tree = *problem.tree;
    if (needed_entries(preconditioner) != NeededEntries::none) found.memory = tree.entries.memory();
    problem.take(tree.matrix, options, settings);
    problem.solver.emplace(tree.matrix, mass ? &problem.tree_of_mass->matrix : nullptr,
                           tree.entries, preconditioner, settings);
    return problem;
  }
  options.profile.build(
      found.choice,
      [&](const Plan& plan) {
        const AnyOperator sliced(matrix, plan, device);
        problem.take(sliced, options, settings);
        found.memory = sliced.memory();
        problem.solver.emplace(sliced, mass ? &*mass : nullptr, preconditioner, settings);
      },
      [&] {
        return choice_without_copy(options.plan, matrix, device, product_objective(options),
                                   Profiles());
      });
  return problem;
}

int run_eigen(const EigenCommand& options) {
  const Device device = options.matrix.on();
  check(options, device);
  const auto progress = options.matrix.progress();
  const Profiles profiles = options.profile.profiles_for({options.plan}, device);
  Stopwatch reading;
  const AnyMatrix matrix = read_square(options, options.matrix.path, progress.get());
  FoundPairs found = found_in(options, matrix, device);
  std::optional<AnyMatrix> mass;
  if (!options.mass.empty()) {
    mass.emplace(read_square(options, options.mass, progress.get()));
    found.mass_entries = mass->entries();
  }
  if (!options.storage.is_hierarchical()) {
    found.choice =
        choice_without_copy(options.plan, matrix, device, product_objective(options), profiles);
  }
  found.read_seconds = reading.seconds();

  Stopwatch building;
  EigenOptions settings = settings_of(options, progress.get());
  if (progress) progress->erase();
  EigenProblem problem;
  try {
    problem = build(options, matrix, mass, device, settings, found);
  } catch (const Error& error) {
    throw_with_advice(error);
  }
  found.count = settings.count;
  found.build_seconds = building.seconds();

  std::vector<AnyField> x;
  x.reserve(static_cast<std::size_t>(found.count));
  for (int k = 0; k < found.count; ++k) x.push_back(problem.matrix->column_field());
  found.report = problem.solver->solve(x);
  found.solver_memory = problem.solver->memory();
  if (problem.tree) found.tree_memory = problem.tree->memory();
  if (problem.tree_of_mass) found.solver_memory += problem.tree_of_mass->memory().total();

  write_and_tell(options, x, device, progress.get(), found);
  return found.report.converged() ? 0 : 1;
}

}  // namespace

void add_eigen(CLI::App& app, int& status, Communicator* ranks) {
  auto options = std::make_shared<EigenCommand>();
  CLI::App* command =
      app.add_subcommand("eigen", "The smallest eigenvalues of a Hermitian matrix, by LOBPCG");
  options->matrix.add_to(*command);
  command
      ->add_option("--mass", options->mass,
                   "M of A x = M x lambda, a Hermitian positive definite matrix of the same "
                   "entries; 1 without it")
      ->type_name("FILE");
  command
      ->add_option("-o,--output", options->output,
                   "where to write the vectors, arrays of one entry a row: v.mtx writes v-1.mtx, "
                   "v-2.mtx, ... (or .mtx.gz)")
      ->type_name("FILE");
  command
      ->add_option("--preconditioner", options->preconditioner,
                   suitable_preconditioners() + compositions_in_words())
      ->capture_default_str()
      ->transform(any_case())
      ->type_name("NAME[:N]...");
  add_settings(*command, SettingUse::eigen, options->settings);
  add_plan_option(*command, options->plan);
  options->storage.add_to(*command);
  options->ranks.add_to(*command, ranks != nullptr, false);
  options->profile.add_to(*command, options->matrix.quiet);
  command->add_flag("--json", options->json, "the report as one JSON object");
  add_settings_file(*command);
  command->footer(
      "Example: heddle eigen dirac.mtx.gz --entry quaternion --count 2 --tolerance 1e-6 --output "
      "v.mtx\n"
      "Exit status: 0 converged, 1 not converged, 2 bad input, 3 resources, 130 interrupted.");
  command->callback([options, &status, ranks] {
    if (ranks != nullptr) {
      status = eigen_on_ranks(*options, *ranks);
    } else {
      options->ranks.check_use(options->matrix.processor.device);
      status = options->ranks.is_given() ? eigen_on_ranks(*options) : run_eigen(*options);
    }
  });
}

}  // namespace heddle::cli
