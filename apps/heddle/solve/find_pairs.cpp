#include "find_pairs.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "heddle/tools/text.hpp"
#include "ranks/matrix_of_rank.hpp"
#include "readable.hpp"
#include "runtime/mass_checks.hpp"
#include "stopwatch.hpp"
#include "system_choice.hpp"
#include "tuning/planning/method_choice.hpp"

namespace heddle::cli {

namespace {

/// Throws `Error` (size_mismatch) for a matrix that is not square.
AnyMatrix read_square(const EigenCommand& options, const std::string& path, Progress* progress) {
  AnyMatrix matrix = options.matrix.read(path, progress);
  if (matrix.rows() == matrix.columns()) return matrix;
  throw Error(ErrorKind::size_mismatch, path + " gives " + std::to_string(matrix.rows()) + " x " +
                                            std::to_string(matrix.columns()) +
                                            " entries; eigenvalues need a square matrix");
}

/// The number of dimensions of the vectors over the entry's ring; at least 1.
int dimensions_of(const AnyLinearOperator& matrix) {
  return matrix.visit([](const auto& A) {
    const Offset dimensions =
        all_rows(A->rows(), A->device().stream()) * A->row_components() / ring_size(A->ring());
    return static_cast<int>(std::clamp<Offset>(dimensions, 1, std::numeric_limits<int>::max()));
  });
}

/// The matrix, and the preconditioner chosen for it.
FoundPairs found_in(const EigenCommand& options, const AnyMatrix& matrix, const Device& device) {
  const ChosenPreconditioner chosen =
      choose_preconditioner(ComposedChoice::parse(options.preconditioner), matrix, 0, device);
  FoundPairs found(facts_of(matrix, options.matrix.path));
  found.preconditioner =
      options.preconditioner == automatic ? chosen.choice.text() : options.preconditioner;
  found.preconditioner_reason = chosen.reason;
  found.units = chosen.units;
  return found;
}

/// `progress` may be null, and must outlive the solver.
EigenOptions settings_of(const EigenCommand& options, Progress* progress) {
  EigenOptions settings = options.of_solver();
  if (progress != nullptr) {
    settings.observer = [progress](const SolveProgress& now) {
      progress->report(-1, readable_iteration(now));
      return true;
    };
  }
  return settings;
}

/// Writes all rows of the vectors to files, and the report.
void write_and_tell(const EigenCommand& options, const std::vector<AnyField>& x,
                    const Device& device, TerminalProgress* progress, FoundPairs& found) {
  Stopwatch writing;
  if (options.output && !found.report.eigenvalues.empty()) {
    for (int k = 0; k < found.count; ++k) {
      x[static_cast<std::size_t>(k)].write(numbered(*options.output, k + 1), found.entry, progress);
    }
  }
  found.write_seconds = writing.seconds();
  if (progress != nullptr) progress->erase();
  ReportLines report = describe(options, found, device);
  tell(report, options.json, options.matrix.quiet);
}

/// The solver of the matrix in its storage.
class PairSolver {
 public:
  PairSolver(const EigenCommand& options, const EigenProblem& problem, Placement& placement,
             FoundPairs& found)
      : options_(options), problem_(problem), placement_(placement), found_(found) {}

  void build(const std::function<void()>& stored) {
    const ComposedChoice preconditioner = ComposedChoice::parse(found_.preconditioner);
    placement_.store(problem_.matrix, TreeUse::product, found_.storage,
                     [&] { make(preconditioner, stored); });
    stored();
  }

  /// Guesses of the pairs that the options ask for: zeros.
  std::vector<AnyField> guesses() const {
    return {static_cast<std::size_t>(found_.count), placement_.matrix().column_field()};
  }
  AnyEigenSolver& solver() { return *solver_; }

 private:
  void make(const ComposedChoice& preconditioner, const std::function<void()>& stored) {
    solver_.reset();
    std::optional<AnyLinearOperator> mass;
    if (problem_.mass) mass.emplace(placement_.store_mass(*problem_.mass));
    if (!placement_.may_store_again()) stored();
    EigenOptions settings = settings_of(options_, placement_.progress());
    if (!options_.settings.has("count")) {
      settings.count = std::min(settings.count, dimensions_of(placement_.matrix()));
    }
    found_.count = settings.count;
    try {
      solver_.emplace(placement_.matrix(), mass ? &*mass : nullptr, preconditioner, settings);
    } catch (const Error& error) {
      throw_with_advice(error);
    }
    found_.storage.copied_bytes = solver_->copied_bytes();
  }

  const EigenCommand& options_;
  const EigenProblem& problem_;
  Placement& placement_;
  FoundPairs& found_;
  std::optional<AnyEigenSolver> solver_;
};

}  // namespace

PlanChoice choose_eigen_plan(const EigenCommand& options, const AnyMatrix& matrix,
                             const Device& device, const Profiles& profiles) {
  return choice_without_copy(options.plan, matrix, device,
                             Objective::product(options.of_solver().count), profiles);
}

EigenProblem read_problem(const EigenCommand& options, const Device& device, bool on_ranks) {
  check(options, device, on_ranks);
  const Profiles profiles = options.profile.profiles_for({options.plan}, device);
  Stopwatch reading;
  const auto progress = options.matrix.progress();
  AnyMatrix matrix = read_square(options, options.matrix.path, progress.get());
  FoundPairs found = found_in(options, matrix, device);
  std::optional<AnyMatrix> mass;
  if (!options.mass.empty()) {
    mass.emplace(read_square(options, options.mass, progress.get()));
    detail::check_mass(matrix, *mass);
    found.mass_entries = mass->entries();
  }
  if (progress) progress->erase();
  if (!options.storage.is_hierarchical()) {
    found.storage.choice = choose_eigen_plan(options, matrix, device, profiles);
    if (on_ranks && is_chosen(options.plan)) distribute(found.storage.choice);
  }
  found.read_seconds = reading.seconds();
  return {std::move(matrix), std::move(mass), true, device, std::move(found)};
}

EigenProblem problem_of_others(const EigenCommand& options, const Device& device) {
  check(options, device, true);
  const AnyMatrix none{CsrMatrix<real<double>>()};
  return {none, std::nullopt, true, device, found_in(options, none, device)};
}

int find_pairs(const EigenCommand& options, const EigenProblem& problem, Placement& placement,
               const std::function<void()>& stored) {
  FoundPairs found = problem.found;
  Stopwatch building;
  PairSolver pairs(options, problem, placement, found);
  pairs.build(stored);
  found.build_seconds = building.seconds();
  std::vector<AnyField> x = pairs.guesses();
  found.report = pairs.solver().solve(x);
  found.solver_memory = pairs.solver().memory() + placement.mass_memory();
  placement.tell(found.storage);
  if (options.output) {
    for (AnyField& part : x) part = placement.whole(std::move(part));
  }
  placement.on_first(
      [&] { write_and_tell(options, x, problem.device, placement.progress(), found); });
  return found.report.converged() ? 0 : 1;
}

}  // namespace heddle::cli
