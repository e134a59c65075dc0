// `heddle eigen` of a matrix whose rows ranks share.
#include <algorithm>
#include <atomic>
#include <string>
#include <utility>
#include <vector>

#include "eigen_settings.hpp"
#include "heddle/distributed_operator.hpp"
#include "matrix_of_rank.hpp"
#include "plan_text.hpp"
#include "stopwatch.hpp"
#include "system_on_ranks.hpp"

namespace heddle::cli {

namespace {

void check_for_ranks(const EigenCommand& options, const Device& device) {
  const auto refuse = [](const std::string& why) { throw Error(ErrorKind::unsupported, why); };
  if (options.storage.is_hierarchical()) {
    refuse("ranks share matrices in sliced storage, not in --storage hisparse");
  }
  if (!options.mass.empty()) {
    refuse("ranks share one matrix: a --mass has another interior, and so rows in another order");
  }
  cli::check_for_ranks(ComposedChoice::parse(options.preconditioner), device);
}

/// What all ranks begin with.
struct EigenOnRanks {
  AnyMatrix matrix;
  FoundPairs found;
};

/// Checks the options.
EigenOnRanks read_problem(const EigenCommand& options, const Device& device) {
  check(options, device);
  check_for_ranks(options, device);
  const Profiles profiles = options.profile.profiles_for({options.plan}, device);
  Stopwatch reading;
  const auto progress = options.matrix.progress();
  AnyMatrix matrix = read_square(options, options.matrix.path, progress.get());
  if (progress) progress->erase();
  FoundPairs found = found_in(matrix);
  found.choice =
      choice_without_copy(options.plan, matrix, device, product_objective(options), profiles);
  if (is_chosen(options.plan)) distribute(found.choice);
  found.read_seconds = reading.seconds();
  return {std::move(matrix), std::move(found)};
}

AnyEigenSolver make_solver(const EigenCommand& options, const MatrixOfRank& rows,
                           const Partition& partition, const EigenOptions& settings) {
  const ComposedChoice preconditioner = ComposedChoice::parse(options.preconditioner);
  try {
    return {rows.matrix(), nullptr, rows.diagonal(), preconditioner, settings};
  } catch (const Error& error) {
    const bool counts_all = preconditioner.has(PreconditionerKind::multigrid);
    if (counts_all || error.kind() != ErrorKind::singular) throw;
    throw singular_on(rows.ranks(), partition, error);
  }
}

/// Returns the exit status.
int eigen_of_rank(const EigenCommand& options, const EigenOnRanks& problem,
                  const Partition& partition, Communicator& ranks, const Device& device,
                  const Device& of_all) {
  Stopwatch building;
  const auto progress = ranks.rank() == 0 ? options.matrix.progress() : nullptr;
  FoundPairs found = problem.found;
  const MatrixOfRank rows(ranks, partition, problem.matrix, 0, found.choice.plan, options.ranks,
                          device);
  EigenOptions settings = settings_of(options, progress.get());
  if (!options.count) settings.count = std::min(settings.count, dimensions_of(rows.matrix()));
  found.count = settings.count;
  AnyEigenSolver solver = make_solver(options, rows, partition, settings);
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
    const int of_rank = eigen_of_rank(options, problem, partition, ranks, device, of_all);
    if (ranks.rank() == 0) status = of_rank;
  });
  return status;
}

int eigen_on_ranks(const EigenCommand& options, Communicator& ranks) {
  std::optional<EigenOnRanks> problem;
  std::optional<Partition> partition;
  std::optional<Device> device;
  together(ranks, [&] {
    device = options.matrix.on();
    if (device->on_gpu()) {
      throw Error(ErrorKind::unsupported,
                  "ranks that are processes work on the CPU: leave --device out");
    }
    problem.emplace(read_problem(options, *device));
    partition = options.ranks.make_partition(problem->matrix, ranks.size());
  });
  int status = 0;
  guard(ranks, [&] {
    // Processes may have other threads, memory and profiles: one chooses.
    Plan& plan = problem->found.choice.plan;
    plan = parse_plan(text_of_rank(ranks, 0, to_full_string(plan)));
    status = eigen_of_rank(options, *problem, *partition, ranks, *device, *device);
  });
  return status;
}

}  // namespace heddle::cli
