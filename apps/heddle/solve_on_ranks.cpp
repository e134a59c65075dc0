#include "solve_on_ranks.hpp"

#include <algorithm>
#include <atomic>
#include <cstdint>
#include <functional>
#include <memory>
#include <numeric>
#include <optional>
#include <span>
#include <string>
#include <utility>
#include <variant>
#include <vector>

#include "distributed/exchange_choice.hpp"
#include "heddle/detail/reduction.hpp"
#include "matrix_of_rank.hpp"
#include "message.hpp"
#include "plan_text.hpp"
#include "rank_choice.hpp"
#include "right_hand_side.hpp"
#include "singular_advice.hpp"
#include "solve_alone.hpp"
#include "solve_least_squares.hpp"
#include "solve_settings.hpp"
#include "stopwatch.hpp"
#include "system_on_ranks.hpp"

namespace heddle::cli {

namespace {

/// A rank's part of it.
class SolveOfRank {
 public:
  SolveOfRank(const SolveOptions& options, const SystemOnRanks& system, const Partition& partition,
              Communicator& ranks, const Device& device)
      : options_(options),
        matrix_(system.matrix),
        has_all_rows_(system.has_all_rows),
        preconditioner_(system.preconditioner),
        ranks_(ranks),
        device_(device),
        of_all_(system.device),
        outcome_(system.outcome),
        partition_(partition) {}

  /// `built`: what to do once it has its rows, and looks at the whole matrix no more.
  int run(const std::function<void()>& built) {
    Stopwatch building;
    progress_ = ranks_.rank() == 0 ? options_.matrix.progress() : nullptr;
    SolveWatch watch(progress_.get());
    if (options_.monitor && ranks_.rank() == 0) {
      watch.show_table(tolerance_of(options_, outcome_.precision));
    }
    settings_ = settings_of(options_, watch);
    build();
    built();
    outcome_.build_seconds = building.seconds();
    make_right_hand_sides();
    make_guess();
    solve(watch);
    return finish();
  }

 private:
  void build() {
    rows_.emplace(ranks_, partition_, matrix_, has_all_rows_, outcome_.choice.plan, options_.ranks,
                  device_);
    tree_.emplace(StoredTree{rows_->matrix(), rows_->diagonal(), {}});
    make_solver();
    if (outcome_.method.looks_at_products(tree_->matrix, options_.shift)) make_solver();
  }

  void make_solver() {
    solver_.reset();
    try {
      solver_.emplace(tree_->matrix, tree_->entries, *outcome_.method.method, preconditioner_,
                      settings_, options_.shift);
    } catch (const Error& error) {
      throw_with_advice(error);
    }
  }

  void make_right_hand_sides() {
    RightHandSide given = rows_->right_hand_side(options_.rhs, options_.right_hand_sides,
                                                 options_.seed, options_.shift);
    check_block_columns(options_, given.b.size());
    b_ = std::move(given.b);
    exact_ = std::move(given.exact);
    outcome_.right_hand_side = given.text;
    outcome_.read_seconds += given.read_seconds;
  }

  void make_guess() {
    guess_ =
        options_.guess.empty()
            ? std::vector<AnyField>(b_.size(), tree_->matrix.row_field())
            : rows_->read_fields("--guess", options_.guess, static_cast<int>(b_.size())).fields;
  }

  void solve(SolveWatch& watch) {
    x_ = solve_repeatedly(
        options_, watch, b_, guess_, [this]() -> AnySolver& { return *solver_; },
        [this] {
          if (!outcome_.method.gives_way(outcome_.report())) return false;
          make_solver();
          return true;
        },
        outcome_);
    outcome_.hierarchy = solver_->multigrid();
  }

  int finish() {
    outcome_.ranks = rows_->summary();
    const std::vector<long long> bytes = gather(ranks_, outcome_.report().bytes_per_iteration);
    outcome_.reports[outcome_.reported].bytes_per_iteration =
        std::accumulate(bytes.begin(), bytes.end(), 0LL);
    std::vector<AnyField> x;
    const bool is_wanted = options_.output.has_value() || !exact_.empty();
    for (AnyField& part : x_) {
      if (is_wanted) x.push_back(rows_->gathered(part));
    }
    for (std::size_t k = 0; k < exact_.size(); ++k) {
      outcome_.errors.push_back(relative_error(x[k], exact_[k]));
    }
    int status = outcome_.report().converged() ? 0 : 1;
    together(ranks_, [&] {
      if (ranks_.rank() != 0) return;
      Stopwatch writing;
      if (options_.output && !outcome_.all_refused()) {
        write_fields(*options_.output, x, outcome_.entry, progress_.get());
      }
      write_history(options_, outcome_, solver_->history(outcome_.reported));
      outcome_.write_seconds = writing.seconds();
      if (progress_) progress_->erase();
      status = tell(options_, outcome_, of_all_);
    });
    return status;
  }

  const SolveOptions& options_;
  const AnyMatrix& matrix_;
  bool has_all_rows_;
  const ComposedChoice& preconditioner_;
  Communicator& ranks_;
  Device device_;  // of this rank
  Device of_all_;
  SolveOutcome outcome_;
  const Partition& partition_;
  std::unique_ptr<TerminalProgress> progress_;
  SolverOptions settings_;
  std::optional<MatrixOfRank> rows_;
  std::optional<StoredTree> tree_;  // matrix and diagonal, as solvers take them
  std::optional<AnySolver> solver_;
  std::vector<AnyField> b_, guess_, x_;
  std::vector<AnyField> exact_;  // of all ranks' rows
};

/// `built` as for `SolveOfRank::run`; least squares tell of the matrix.
int solve_of_rank(const SolveOptions& options, const SystemOnRanks& system,
                  const Partition& partition, Communicator& ranks, const Device& device,
                  const std::function<void()>& built) {
  if (!system.least_squares) {
    return SolveOfRank(options, system, partition, ranks, device).run(built);
  }
  const SolveOutcome& outcome = system.outcome;
  const auto progress = ranks.rank() == 0 ? options.matrix.progress() : nullptr;
  const MatrixOfRank rows(ranks, partition, system.matrix, system.has_all_rows, outcome.choice.plan,
                          options.ranks, device, true);
  const Profiles none;
  const OnRank of_all{rows, outcome.choice, static_cast<Index>(partition.rows()), outcome.entries};
  return solve_least_squares(
      options, {system.matrix, *system.least_squares, system.device, none, progress.get(),
                outcome.read_seconds, outcome.rank_choice, &of_all});
}

/// On the first of the devices that the options name.
SolveOptions without_ranks(const SolveOptions& options) {
  SolveOptions alone = options;
  std::string& device = alone.matrix.processor.device;
  device.resize(std::min(device.size(), device.find(',')));
  return alone;
}

}  // namespace

int solve_on_ranks(const SolveOptions& options) {
  const std::vector<Device> devices =
      options.ranks.devices(options.matrix.processor, options.matrix.quiet);
  const bool is_automatic = options.ranks.is_automatic;
  if (is_automatic && !devices.front().on_gpu()) {
    return solve_alone(without_ranks(options), {},
                       "none: threads of one process share the processor's cores and memory");
  }
  if (is_automatic) {
    const auto preconditioner = ComposedChoice::parse(preconditioner_of(options));
    if (needed_entries(preconditioner) == NeededEntries::all) {
      return solve_alone(
          without_ranks(options), {},
          "none: iterations of " + preconditioner.text() + " on ranks are not predicted");
    }
    try {
      check_for_ranks(options, preconditioner);
    } catch (const Error& error) {
      if (error.kind() != ErrorKind::unsupported) throw;
      return solve_alone(without_ranks(options), {}, std::string("none: ") + error.what());
    }
  }
  if (is_automatic && devices.size() == 1) {
    return solve_alone(without_ranks(options), {}, "none: --device names one GPU");
  }
  ReadSystem given = read_system(options, devices.front());
  if (is_automatic && given.read.matrix.rows() != given.read.matrix.columns()) {
    return solve_alone(without_ranks(options), std::move(given.read),
                       "none: ranks share square matrices");
  }
  SystemOnRanks system = system_of(options, std::move(given), devices.front());
  int count = options.ranks.ranks;
  if (is_automatic) {
    const RankChoice choice = choose_ranks(options.ranks, system.matrix, devices);
    if (choice.ranks == 1) {
      return solve_alone(without_ranks(options),
                         ReadMatrix{std::move(system.matrix), system.outcome.read_seconds},
                         "none: " + choice.reason);
    }
    count = choice.ranks;
    system.outcome.rank_choice = std::to_string(count) + " " + choice.reason;
  }
  const Device part_of_cpu = Device::cpu(std::max(1, system.device.threads() / count));
  const Partition partition = options.ranks.make_partition(system.matrix, count);
  std::atomic<int> status = 0;
  run_on_ranks(count, [&](Communicator& ranks) {
    const Device& device = system.device.on_gpu() ? devices.begin()[ranks.rank()] : part_of_cpu;
    const auto linked = options.ranks.linked(ranks, device);
    const int of_rank =
        solve_of_rank(options, system, partition, linked ? *linked : ranks, device, [] {});
    if (ranks.rank() == 0) status = of_rank;
  });
  return status;
}

int solve_on_ranks(const SolveOptions& options, Communicator& ranks) {
  std::optional<SystemOnRanks> system;
  std::optional<Partition> partition;
  std::optional<NpzRows> file;  // of which each rank reads its rows
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
      system.emplace(system_of(options, read_system(options, device), device));
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
    // Processes may have other threads, memory and profiles: one chooses.
    Plan& plan = system->outcome.choice.plan;
    plan = parse_plan(text_of_rank(ranks, 0, to_full_string(plan)));
    if (file) {
      agree_on_preconditioner(*system, ranks);
      // Entries of one place are one.
      const auto own = static_cast<long long>(system->matrix.entries());
      const std::vector<long long> entries = gather(ranks, own);
      system->outcome.entries = std::accumulate(entries.begin(), entries.end(), 0LL);
    }
    // A process keeps its part, not the whole.
    const auto forget = [&] { system->matrix = AnyMatrix(CsrMatrix<real<double>>()); };
    const auto linked = options.ranks.linked(ranks, system->device);
    status = solve_of_rank(options, *system, *partition, linked ? *linked : ranks, system->device,
                           forget);
  });
  return status;
}

}  // namespace heddle::cli
