#include "system_on_ranks.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "heddle/distributed_operator.hpp"
#include "plan_text.hpp"
#include "ranks/matrix_of_rank.hpp"
#include "ranks/read_by_first.hpp"
#include "solve_least_squares.hpp"
#include "stopwatch.hpp"

namespace heddle::cli {

namespace {

/// Gives all ranks the preconditioner of `speaker`. Collective.
void take_preconditioner(ChosenSystem& system, int speaker, Communicator& ranks) {
  SolveOutcome& outcome = system.outcome;
  outcome.preconditioner = text_of_rank(ranks, speaker, outcome.preconditioner);
  outcome.preconditioner_reason = text_of_rank(ranks, speaker, outcome.preconditioner_reason);
  const MultigridChoice multigrid = system.preconditioner.multigrid;
  system.preconditioner = ComposedChoice::parse(outcome.preconditioner);
  system.preconditioner.multigrid = multigrid;
}

AnyEntry entry_of(const MatrixOptions& options, const NpzRows& file) {
  if (options.names_entry()) return options.chosen_entry();
  return file.is_complex() ? EntryKind::complex : EntryKind::real;
}

}  // namespace

ChosenSystem system_of_others(const SolveOptions& options, const Device& device) {
  ComposedChoice preconditioner = checked_preconditioner(options, device, true);
  AnyMatrix none{CsrMatrix<real<double>>()};
  SolveOutcome outcome = outcome_of(options, none, preconditioner, "");
  outcome.entry = options.matrix.chosen_entry();
  outcome.precision = options.matrix.scalar();
  return {.matrix = std::move(none),
          .preconditioner = std::move(preconditioner),
          .device = device,
          .outcome = std::move(outcome)};
}

void agree_on_preconditioner(ChosenSystem& system, Communicator& ranks) {
  const bool is_none = system.preconditioner.has(PreconditionerKind::none);
  const std::vector<long long> all = gather(ranks, is_none ? 1 : 0);
  const auto first_without = std::find(all.begin(), all.end(), 1) - all.begin();
  if (first_without < ranks.size()) {
    take_preconditioner(system, static_cast<int>(first_without), ranks);
  }
}

AnyEntry entry_of_first(const MatrixOptions& options, const AnyMatrix& matrix,
                        Communicator& ranks) {
  if (options.names_entry()) return options.chosen_entry();
  return parse_entry_kind(text_of_rank(ranks, 0, std::string(matrix.entry().name())));
}

void share_system(const MatrixOptions& options, ChosenSystem& system,
                  std::optional<Partition>& partition, Communicator& ranks) {
  const bool is_first = ranks.rank() == 0;
  SolveOutcome& outcome = system.outcome;
  partition = partition_of_first(ranks, partition);
  outcome.entry = entry_of_first(options, system.matrix, ranks);
  const MethodChoice& chosen = outcome.method;
  const std::string method_text = text_of_rank(
      ranks, 0,
      system.least_squares
          ? std::string()
          : std::string(chosen.is_free ? "1" : "0") + std::string(chosen.method->name));
  take_preconditioner(system, 0, ranks);
  if (!is_first && method_text.empty()) system.least_squares = "by rank 0";
  if (!is_first && !method_text.empty()) {
    outcome.method =
        choose_method(method_text.substr(1), system.matrix, system.preconditioner, system.device);
    outcome.method.is_free = method_text.front() == '1';
  }
  system.matrix = rows_of_first(ranks, *partition, is_first ? &system.matrix : nullptr,
                                outcome.entry, outcome.precision);
  system.has_all_rows = false;
}

void check_sums(const NpzRows& file, const NpzRows::Sums& mine, Communicator& ranks) {
  const std::vector<long long> gathered[] = {
      gather(ranks, mine.column.crc), gather(ranks, mine.column.bytes),
      gather(ranks, mine.values.crc), gather(ranks, mine.values.bytes)};
  std::vector<NpzRows::Sums> of_all;
  of_all.reserve(gathered[0].size());
  for (std::size_t rank = 0; rank < gathered[0].size(); ++rank) {
    of_all.push_back({{static_cast<std::uint32_t>(gathered[0][rank]), gathered[1][rank]},
                      {static_cast<std::uint32_t>(gathered[2][rank]), gathered[3][rank]}});
  }
  file.check(of_all);
}

std::optional<NpzRows> file_by_rows(const SolveOptions& options, const Device& device) {
  if (options.multigrid.names_candidates()) return std::nullopt;  // candidates have all rows
  const std::string& path = options.matrix.path;
  if (options.method == "auto" || !options.ranks.is_by_entries_of_rows() || !path.ends_with(".npz"))
    return std::nullopt;
  checked_preconditioner(options, device, true);
  NpzRows file(path);
  if (!file.are_rows_of(entry_of(options.matrix, file))) return std::nullopt;
  return file;
}

ChosenSystem read_own_rows(const SolveOptions& options, const NpzRows& file,
                           const Partition& partition, int rank, const Device& device,
                           NpzRows::Sums& sums) {
  const auto first = static_cast<Index>(partition.first_row(rank));
  const auto end = static_cast<Index>(first + partition.rows_of(rank));
  const auto read = [&](Progress*) {
    return file.read(first, end, entry_of(options.matrix, file), options.matrix.scalar(),
                     Device::cpu(device.threads()), &sums);
  };
  ReadSystem own = read_system(options, device, true, read);
  PlanSubject subject = subject_of(own.read.matrix);
  std::optional<NpzRows::Pattern> pattern;
  if (rank == 0 && is_chosen(options.plan)) {
    pattern.emplace(file.read_pattern(Device::cpu(device.threads())));
    subject.pattern = pattern->view();
  }
  ChosenSystem system = choose_on_ranks(
      options, std::move(own), {first, file.rows(), rank == 0 ? &subject : nullptr}, device);
  system.has_all_rows = false;
  return system;
}

}  // namespace heddle::cli
