#include "solve_on_ranks.hpp"

#include <algorithm>
#include <numeric>
#include <optional>
#include <string>
#include <utility>
#include <vector>

#include "distributed/exchange/exchange_choice.hpp"
#include "heddle/detail/reduction.hpp"
#include "ranks/on_rank.hpp"
#include "ranks/rank_choice.hpp"
#include "solve_system.hpp"
#include "stopwatch.hpp"
#include "system_on_ranks.hpp"

namespace heddle::cli {

namespace {

/// The same options for a solve on the first of the devices that they name.
SolveOptions without_ranks(const SolveOptions& options) {
  SolveOptions alone = options;
  std::string& device = alone.matrix.processor.device;
  device.resize(std::min(device.size(), device.find(',')));
  return alone;
}

/// The reason why a solve that leaves the number of ranks open uses none, as far as it is known
/// before reading; empty if the matrix decides.
std::string reason_for_none(const SolveOptions& options, const std::vector<Device>& devices) {
  if (!devices.front().on_gpu()) {
    return "threads of one process share the processor's cores and memory";
  }
  const auto preconditioner = ComposedChoice::parse(preconditioner_of(options));
  if (preconditioner.is_of_all_entries()) {
    return "iterations of " + preconditioner.text() + " on ranks are not predicted";
  }
  try {
    check_for_ranks(options);
  } catch (const Error& error) {
    if (error.kind() != ErrorKind::unsupported) throw;
    return error.what();
  }
  return devices.size() == 1 ? "--device names one GPU" : "";
}

}  // namespace

int solve_on_ranks(const SolveOptions& options) {
  const std::vector<Device> devices =
      options.ranks.devices(options.matrix.processor, options.matrix.quiet);
  const bool is_automatic = options.ranks.is_automatic;
  const auto solve_without = [&](const std::string& reason, std::optional<ReadMatrix> read = {}) {
    return solve_alone(without_ranks(options), std::move(read), "none: " + reason);
  };
  if (is_automatic) {
    const std::string reason = reason_for_none(options, devices);
    if (!reason.empty()) return solve_without(reason);
  }
  ReadSystem given = read_system(options, devices.front(), true);
  if (is_automatic && given.read.matrix.rows() != given.read.matrix.columns()) {
    return solve_without("ranks share square matrices", std::move(given.read));
  }
  ChosenSystem system = choose_on_ranks(options, std::move(given), devices.front());
  int count = options.ranks.ranks;
  if (is_automatic) {
    const RankChoice choice = choose_ranks(options.ranks, system.matrix, devices);
    if (choice.ranks == 1) {
      return solve_without(choice.reason,
                           ReadMatrix{std::move(system.matrix), system.outcome.read_seconds});
    }
    count = choice.ranks;
    system.outcome.rank_choice = std::to_string(count) + " " + choice.reason;
  }
  const Partition partition = options.ranks.make_partition(system.matrix, count);
  return run_on_threads(
      options.ranks, devices, count, [&](Communicator& ranks, const Device& device) {
        OnRank here(ranks, partition, options.ranks, device, true, options.matrix.progress());
        return solve_system(options, system, here, [] {});
      });
}

int solve_on_ranks(const SolveOptions& options, Communicator& ranks) {
  std::optional<ChosenSystem> system;
  std::optional<Partition> partition;
  std::optional<NpzRows> file;  // each rank reads its rows from it
  NpzRows::Sums sums;
  const int place = detail::place_on_host(ranks);
  together(ranks, [&] {
    const Device device =
        options.ranks.device_of_process(options.matrix.processor, place, options.matrix.quiet);
    file = file_by_rows(options, device);
    if (file) {
      partition = options.ranks.make_partition(file->rows(), file->entries_of_groups(rows_of_group),
                                               ranks.size());
      system.emplace(read_own_rows(options, *file, *partition, ranks.rank(), device, sums));
    } else if (ranks.rank() == 0) {
      system.emplace(choose_on_ranks(options, read_system(options, device, true), device));
      partition = options.ranks.make_partition(system->matrix, ranks.size());
    } else {
      system.emplace(system_of_others(options, device));
    }
  });
  int status = 0;
  guard(ranks, [&] {
    Stopwatch sharing;
    if (file) {
      check_sums(*file, sums, ranks);
    } else {
      share_system(options.matrix, *system, partition, ranks);
    }
    system->outcome.read_seconds += sharing.seconds();
    // Processes may differ in threads, memory and profiles, so one of them chooses.
    Plan& plan = system->outcome.storage.choice.plan;
    plan = parse_plan(text_of_rank(ranks, 0, to_full_string(plan)));
    if (file) {
      agree_on_preconditioner(*system, ranks);
      // Entries at the same place count as one.
      const auto own = static_cast<long long>(system->matrix.entries());
      const std::vector<long long> entries = gather(ranks, own);
      system->outcome.entries = std::accumulate(entries.begin(), entries.end(), 0LL);
    }
    // A process keeps only its part of the matrix.
    const auto forget = [&] { system->matrix = AnyMatrix(CsrMatrix<real<double>>()); };
    const auto linked = options.ranks.linked(ranks, system->device);
    OnRank here(linked ? *linked : ranks, *partition, options.ranks, system->device,
                system->has_all_rows, options.matrix.progress());
    status = solve_system(options, *system, here, forget);
  });
  return status;
}

}  // namespace heddle::cli
