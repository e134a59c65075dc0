// `heddle eigen` of a matrix whose rows are distributed over ranks.
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "distributed/exchange/exchange_choice.hpp"
#include "find_pairs.hpp"
#include "heddle/detail/reduction.hpp"
#include "plan_text.hpp"
#include "ranks/on_rank.hpp"
#include "ranks/read_by_first.hpp"
#include "stopwatch.hpp"
#include "system_on_ranks.hpp"

namespace heddle::cli {

namespace {

/// Gives each rank its rows of the matrix that rank 0 has read, and the partition. Collective.
void share_problem(const EigenCommand& options, EigenProblem& problem,
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

}  // namespace

int eigen_on_ranks(const EigenCommand& options) {
  const std::vector<Device> devices =
      options.ranks.devices(options.matrix.processor, options.matrix.quiet);
  const EigenProblem problem = read_problem(options, devices.front(), true);
  const int count = options.ranks.ranks;
  const Partition partition = options.ranks.make_partition(problem.matrix, count);
  return run_on_threads(
      options.ranks, devices, count, [&](Communicator& ranks, const Device& device) {
        OnRank here(ranks, partition, options.ranks, device, true, options.matrix.progress());
        return find_pairs(options, problem, here, [] {});
      });
}

int eigen_on_ranks(const EigenCommand& options, Communicator& ranks) {
  std::optional<EigenProblem> problem;
  std::optional<Partition> partition;
  std::optional<Device> device;
  const int place = detail::place_on_host(ranks);
  together(ranks, [&] {
    device = options.ranks.device_of_process(options.matrix.processor, place, options.matrix.quiet);
    if (ranks.rank() == 0) {
      problem.emplace(read_problem(options, *device, true));
      partition = options.ranks.make_partition(problem->matrix, ranks.size());
    } else {
      problem.emplace(problem_of_others(options, *device));
    }
  });
  int status = 0;
  guard(ranks, [&] {
    Stopwatch sharing;
    share_problem(options, *problem, partition, ranks);
    problem->found.read_seconds += sharing.seconds();
    // Processes may differ in threads, memory and profiles, so one of them chooses.
    Plan& plan = problem->found.storage.choice.plan;
    plan = parse_plan(text_of_rank(ranks, 0, to_full_string(plan)));
    // A process keeps its rows only in the storage of products.
    const auto forget = [&] {
      problem->matrix = AnyMatrix(CsrMatrix<real<double>>());
      problem->mass.reset();
    };
    const auto linked = options.ranks.linked(ranks, *device);
    OnRank here(linked ? *linked : ranks, *partition, options.ranks, *device, problem->has_all_rows,
                options.matrix.progress());
    status = find_pairs(options, *problem, here, forget);
  });
  return status;
}

}  // namespace heddle::cli
