// `heddle eigen` of a matrix whose rows ranks share.
#include <algorithm>
#include <atomic>
#include <functional>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "distributed/exchange_choice.hpp"
#include "eigen_settings.hpp"
#include "heddle/distributed_operator.hpp"
#include "matrix_of_rank.hpp"
#include "plan_text.hpp"
#include "read_by_first.hpp"
#include "singular_advice.hpp"
#include "solvers/mass_checks.hpp"
#include "stopwatch.hpp"
#include "system_on_ranks.hpp"

namespace heddle::cli {

namespace {

/// What all ranks begin with.
struct EigenOnRanks {
  AnyMatrix matrix;
  FoundPairs found;
  std::optional<AnyMatrix> mass;
  bool has_all_rows = true;
};

/// Checks the options.
EigenOnRanks read_problem(const EigenCommand& options, const Device& device) {
  check(options, device);
  check_storage_for_ranks(options.storage);
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
  found.choice =
      choice_without_copy(options.plan, matrix, device, product_objective(options), profiles);
  if (is_chosen(options.plan)) distribute(found.choice);
  found.read_seconds = reading.seconds();
  return {std::move(matrix), std::move(found), std::move(mass)};
}

/// Each rank gets its rows of what rank 0 has read, and the partition. Collective.
void share_problem(const EigenCommand& options, EigenOnRanks& problem,
                   std::optional<Partition>& partition, Communicator& ranks) {
  const bool is_first = ranks.rank() == 0;
  partition = partition_of_first(ranks, partition);
  const AnyEntry entry = entry_of_first(options.matrix, problem.matrix, ranks);
  const auto share = [&](const AnyMatrix& whole) {
    return rows_of_first(ranks, *partition, is_first ? &whole : nullptr, entry,
                         options.matrix.scalar());
  };
  problem.matrix = share(problem.matrix);
  if (!options.mass.empty()) problem.mass = share(is_first ? *problem.mass : problem.matrix);
  problem.has_all_rows = false;
  problem.found.preconditioner = text_of_rank(ranks, 0, problem.found.preconditioner);
}

AnyEigenSolver make_solver(const std::string& preconditioner, const MatrixOfRank& rows,
                           const AnyLinearOperator* mass, const EigenOptions& settings) {
  try {
    return {rows.matrix(), mass, rows.diagonal(), ComposedChoice::parse(preconditioner), settings};
  } catch (const Error& error) {
    throw_with_advice(error);
  }
}

/// `built`: what to do once it has its rows. Returns the exit status.
int eigen_of_rank(const EigenCommand& options, const EigenOnRanks& problem,
                  const Partition& partition, Communicator& ranks, const Device& device,
                  const Device& of_all, const std::function<void()>& built) {
  Stopwatch building;
  const auto progress = ranks.rank() == 0 ? options.matrix.progress() : nullptr;
  FoundPairs found = problem.found;
  const MatrixOfRank rows(ranks, partition, problem.matrix, problem.has_all_rows, found.choice.plan,
                          options.ranks, device);
  std::optional<MatrixOfRank> rows_of_mass;
  std::optional<AnyLinearOperator> mass;
  if (problem.mass) {
    rows_of_mass.emplace(ranks, partition, *problem.mass, problem.has_all_rows, found.choice.plan,
                         options.ranks, device);
    mass.emplace(rows.in_own_basis(*rows_of_mass));
  }
  built();
  EigenOptions settings = settings_of(options, progress.get());
  if (!options.settings.has("count"))
    settings.count = std::min(settings.count, dimensions_of(rows.matrix()));
  found.count = settings.count;
  AnyEigenSolver solver =
      make_solver(found.preconditioner, rows, mass ? &*mass : nullptr, settings);
  found.solver_memory = solver.memory();
  found.build_seconds = building.seconds();
  std::vector<AnyField> parts, x;
  for (int k = 0; k < found.count; ++k) parts.push_back(rows.matrix().column_field());
  found.report = solver.solve(parts);
  found.ranks = rows.summary();
  for (AnyField& part : parts) {
    if (options.output) x.push_back(rows.gathered(part));
  }
  together(ranks, [&] {
    if (ranks.rank() == 0) write_and_tell(options, x, of_all, progress.get(), found);
  });
  return found.report.converged() ? 0 : 1;
}

}  // namespace

int eigen_on_ranks(const EigenCommand& options) {
  const std::vector<Device> devices =
      options.ranks.devices(options.matrix.processor, options.matrix.quiet);
  const Device& of_all = devices.front();
  const EigenOnRanks problem = read_problem(options, of_all);
  const int count = options.ranks.ranks;
  const Device part_of_cpu = Device::cpu(std::max(1, of_all.threads() / count));
  const Partition partition = options.ranks.make_partition(problem.matrix, count);
  std::atomic<int> status = 0;
  run_on_ranks(count, [&](Communicator& ranks) {
    const Device& device = of_all.on_gpu() ? devices.begin()[ranks.rank()] : part_of_cpu;
    const auto linked = options.ranks.linked(ranks, device);
    const int of_rank =
        eigen_of_rank(options, problem, partition, linked ? *linked : ranks, device, of_all, [] {});
    if (ranks.rank() == 0) status = of_rank;
  });
  return status;
}

int eigen_on_ranks(const EigenCommand& options, Communicator& ranks) {
  std::optional<EigenOnRanks> problem;
  std::optional<Partition> partition;
  std::optional<Device> device;
  const int place = detail::place_on_host(ranks);
  together(ranks, [&] {
    device = options.ranks.device_of_process(options.matrix.processor, place, options.matrix.quiet);
    if (ranks.rank() == 0) {
      problem.emplace(read_problem(options, *device));
      partition = options.ranks.make_partition(problem->matrix, ranks.size());
    } else {
      check(options, *device);
      check_storage_for_ranks(options.storage);
      const AnyMatrix none{CsrMatrix<real<double>>()};
      problem.emplace(EigenOnRanks{none, found_in(options, none, *device), std::nullopt});
    }
  });
  int status = 0;
  guard(ranks, [&] {
    Stopwatch sharing;
    share_problem(options, *problem, partition, ranks);
    problem->found.read_seconds += sharing.seconds();
    // Processes may have other threads, memory and profiles: one chooses.
    Plan& plan = problem->found.choice.plan;
    plan = parse_plan(text_of_rank(ranks, 0, to_full_string(plan)));
    // A process keeps its rows in the storage of products alone.
    const auto forget = [&] {
      problem->matrix = AnyMatrix(CsrMatrix<real<double>>());
      problem->mass.reset();
    };
    const auto linked = options.ranks.linked(ranks, *device);
    status = eigen_of_rank(options, *problem, *partition, linked ? *linked : ranks, *device,
                           *device, forget);
  });
  return status;
}

}  // namespace heddle::cli
