#include "system_on_ranks.hpp"

#include <algorithm>
#include <string>
#include <utility>
#include <vector>

#include "heddle/distributed_operator.hpp"
#include "matrix_of_rank.hpp"
#include "message.hpp"
#include "plan_text.hpp"
#include "read_by_first.hpp"
#include "solve_least_squares.hpp"
#include "stopwatch.hpp"

namespace heddle::cli {

namespace {

/// Checks the options.
ComposedChoice checked_preconditioner(const SolveOptions& options, const Device& device) {
  check_method(options.method);
  ComposedChoice preconditioner = ComposedChoice::parse(preconditioner_of(options));
  if (options.shift != 0) check_needs_no_entries(preconditioner);
  preconditioner.multigrid = with_settings(preconditioner.multigrid, options.settings);
  check(options, device);
  check_for_ranks(options, preconditioner);
  return preconditioner;
}

/// All ranks take the one that `speaker` has. Collective.
void take_preconditioner(SystemOnRanks& system, int speaker, Communicator& ranks) {
  SolveOutcome& outcome = system.outcome;
  outcome.preconditioner = text_of_rank(ranks, speaker, outcome.preconditioner);
  outcome.preconditioner_reason = text_of_rank(ranks, speaker, outcome.preconditioner_reason);
  const MultigridChoice told = system.preconditioner.multigrid;
  system.preconditioner = ComposedChoice::parse(outcome.preconditioner);
  system.preconditioner.multigrid = told;
}

template <class Read>
ReadSystem read_system(const SolveOptions& options, const Device& device, const Read& read) {
  ComposedChoice preconditioner = checked_preconditioner(options, device);
  Profiles profiles = options.profile.profiles_for({options.plan}, device);
  Stopwatch reading;
  const auto progress = options.matrix.progress();
  AnyMatrix matrix = read(progress.get());
  if (progress) progress->erase();
  return {{std::move(matrix), reading.seconds()}, std::move(preconditioner), std::move(profiles)};
}

/// Profiles have settings for one process.
void read_multigrid(const SolveOptions& options, SolveOutcome& outcome, ReadSystem& system,
                    const Device& device) {
  MultigridChoice& choice = system.preconditioner.multigrid;
  choice = options.multigrid.read(choice, options.settings, system.read.matrix, device, nullptr);
  outcome.multigrid = choice;
  if (outcome.preconditioner == "multigrid" &&
      !options.multigrid.names_settings(options.settings)) {
    outcome.multigrid_reason = default_settings;
  }
}

/// `first_row`: of those that were read; `rows`: of all ranks. `subject`: of all rows, too; null
/// where another rank chooses the plan.
SystemOnRanks system_by(const SolveOptions& options, ReadSystem system, Index first_row, Index rows,
                        const PlanSubject* subject, const Device& device) {
  const AnyMatrix& matrix = system.read.matrix;
  if (rows != matrix.columns()) {
    throw Error(ErrorKind::unsupported, "ranks share square matrices, not one of " +
                                            std::to_string(rows) + " rows and " +
                                            std::to_string(matrix.columns()) + " columns");
  }
  Stopwatch choosing;
  const ChosenPreconditioner chosen = choose_preconditioner_of_rows(
      system.preconditioner, matrix, first_row, options.shift, device);
  system.preconditioner = chosen.choice;
  SolveOutcome outcome = outcome_of(options, matrix, chosen);
  auto least_squares = reason_for_least_squares(options, matrix);
  if (!least_squares) {
    outcome.method = choose_method(options.method, matrix, system.preconditioner, device);
  }
  if (subject != nullptr) {
    outcome.choice =
        least_squares ? choice_without_copy(options.plan, *subject, device, Objective::product(),
                                            system.profiles)
                      : choose(options, *subject, *outcome.method.method, device, system.profiles);
  }
  // Behind the choice of a plan, as without ranks, so that the plan and the bits are the same.
  if (!least_squares) {
    outcome.method.looks_at_diagonal(matrix, system.preconditioner, options.shift);
  }
  if (is_chosen(options.plan)) distribute(outcome.choice);
  if (!outcome.choice.warning.empty() && !options.matrix.quiet) warn(outcome.choice.warning);
  read_multigrid(options, outcome, system, device);
  outcome.read_seconds = system.read.seconds + choosing.seconds();
  return {std::move(system.read.matrix),
          std::move(system.preconditioner),
          device,
          std::move(outcome),
          true,
          std::move(least_squares)};
}

AnyEntry entry_of(const MatrixOptions& options, const NpzRows& file) {
  if (options.names_entry()) return options.chosen_entry();
  return file.is_complex() ? EntryKind::complex : EntryKind::real;
}

}  // namespace

void check_for_ranks(const SolveOptions& options, const ComposedChoice& preconditioner) {
  check_storage_for_ranks(options.storage);
  if (options.has_narrow_fields()) {
    throw Error(ErrorKind::usage, "--field-precision single is not for ranks");
  }
  options.multigrid.check(preconditioner, options.settings);
}

void check_storage_for_ranks(const StorageOption& storage) {
  if (!storage.is_hierarchical()) return;
  throw Error(ErrorKind::unsupported,
              "ranks share matrices in sliced storage, not in --storage hisparse");
}

ReadSystem read_system(const SolveOptions& options, const Device& device) {
  return read_system(options, device,
                     [&](Progress* progress) { return options.matrix.read(progress); });
}

SystemOnRanks system_of(const SolveOptions& options, ReadSystem system, const Device& device) {
  const PlanSubject subject = subject_of(system.read.matrix);
  const Index rows = system.read.matrix.rows();
  return system_by(options, std::move(system), 0, rows, &subject, device);
}

SystemOnRanks system_of_others(const SolveOptions& options, const Device& device) {
  ComposedChoice preconditioner = checked_preconditioner(options, device);
  AnyMatrix none{CsrMatrix<real<double>>()};
  SolveOutcome outcome = outcome_of(options, none, {preconditioner, ""});
  outcome.entry = options.matrix.chosen_entry();
  outcome.precision = options.matrix.scalar();
  return {std::move(none), std::move(preconditioner), device, std::move(outcome)};
}

void agree_on_preconditioner(SystemOnRanks& system, Communicator& ranks) {
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

void share_system(const MatrixOptions& options, SystemOnRanks& system,
                  std::optional<Partition>& partition, Communicator& ranks) {
  const bool is_first = ranks.rank() == 0;
  SolveOutcome& outcome = system.outcome;
  partition = partition_of_first(ranks, partition);
  outcome.entry = entry_of_first(options, system.matrix, ranks);
  const MethodChoice& chosen = outcome.method;
  const std::string told = text_of_rank(
      ranks, 0,
      system.least_squares
          ? std::string()
          : std::string(chosen.is_free ? "1" : "0") + std::string(chosen.method->name));
  take_preconditioner(system, 0, ranks);
  if (!is_first && told.empty()) system.least_squares = "by rank 0";
  if (!is_first && !told.empty()) {
    outcome.method =
        choose_method(told.substr(1), system.matrix, system.preconditioner, system.device);
    outcome.method.is_free = told.front() == '1';
  }
  system.matrix = rows_of_first(ranks, *partition, is_first ? &system.matrix : nullptr,
                                outcome.entry, outcome.precision);
  system.has_all_rows = false;
}

void check_sums(const NpzRows& file, const NpzRows::Sums& mine, Communicator& ranks) {
  const std::vector<long long> told[] = {
      gather(ranks, mine.column.crc), gather(ranks, mine.column.bytes),
      gather(ranks, mine.values.crc), gather(ranks, mine.values.bytes)};
  std::vector<NpzRows::Sums> of_all;
  for (std::size_t rank = 0; rank < told[0].size(); ++rank) {
    of_all.push_back({{static_cast<std::uint32_t>(told[0][rank]), told[1][rank]},
                      {static_cast<std::uint32_t>(told[2][rank]), told[3][rank]}});
  }
  file.check(of_all);
}

std::optional<NpzRows> file_by_rows(const SolveOptions& options, const Device& device) {
  if (options.multigrid.names_candidates()) return std::nullopt;  // of all rows
  const std::string& path = options.matrix.path;
  if (options.method == "auto" || !options.ranks.is_by_entries_of_rows() || !path.ends_with(".npz"))
    return std::nullopt;
  checked_preconditioner(options, device);
  NpzRows file(path);
  if (!file.are_rows_of(entry_of(options.matrix, file))) return std::nullopt;
  return file;
}

SystemOnRanks read_own_rows(const SolveOptions& options, const NpzRows& file,
                            const Partition& partition, int rank, const Device& device,
                            NpzRows::Sums& sums) {
  const auto first = static_cast<Index>(partition.first_row(rank));
  const auto end = static_cast<Index>(first + partition.rows_of(rank));
  const auto read = [&](Progress*) {
    return file.read(first, end, entry_of(options.matrix, file), options.matrix.scalar(),
                     Device::cpu(device.threads()), &sums);
  };
  ReadSystem own = read_system(options, device, read);
  PlanSubject subject = subject_of(own.read.matrix);
  std::optional<NpzRows::Pattern> pattern;
  if (rank == 0 && is_chosen(options.plan)) {
    pattern.emplace(file.read_pattern(Device::cpu(device.threads())));
    subject.pattern = pattern->view();
  }
  SystemOnRanks system = system_by(options, std::move(own), first, file.rows(),
                                   rank == 0 ? &subject : nullptr, device);
  system.has_all_rows = false;
  system.outcome.rows = file.rows();
  return system;
}

}  // namespace heddle::cli
