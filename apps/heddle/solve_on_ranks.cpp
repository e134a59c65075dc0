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

#include "gathered_rows.hpp"
#include "heddle/detail/reduction.hpp"
#include "heddle/distributed_operator.hpp"
#include "message.hpp"
#include "plan_text.hpp"
#include "rank_choice.hpp"
#include "right_hand_side.hpp"
#include "solve_alone.hpp"
#include "solve_settings.hpp"
#include "stopwatch.hpp"
#include "system_on_ranks.hpp"
#include "system_solver.hpp"

namespace heddle::cli {

namespace {

/// A rank's part of it.
class SolveOfRank {
 public:
  SolveOfRank(const SolveOptions& options, const SystemOnRanks& system, const Partition& partition,
              Communicator& ranks, const Device& device)
      : options_(options),
        matrix_(system.matrix),
        first_row_of_matrix_(system.first_row),
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
  /// Among all rows, of this rank's.
  Offset row_at(long long own) const {
    return partition_.row(partition_.first_row(ranks_.rank()) + own);
  }

  /// This rank's rows of a field that all ranks have.
  AnyField part_of(const AnyField& all) const {
    AnyField part = tree_->matrix.row_field();
    const Offset width = part.components();
    for (Offset own = 0; own < part.rows(); ++own) {
      const Offset row = row_at(own);
      for (Offset k = 0; k < width; ++k) part.set(own * width + k, all.get(row * width + k));
    }
    return part;
  }

  void build() {
    const PatternView pattern = matrix_.pattern();
    const Offset bytes = matrix_.entry_bytes();
    RankRows rows;
    std::vector<std::byte> values;
    for (long long own = 0; own < partition_.rows_of(ranks_.rank()); ++own) {
      const Offset row = row_at(own) - first_row_of_matrix_;
      const Offset begin = pattern.offsets[row], end = pattern.offsets[row + 1];
      rows.columns.insert(rows.columns.end(), pattern.column + begin, pattern.column + end);
      rows.offsets.push_back(static_cast<Offset>(rows.columns.size()));
      const std::byte* const of_row = matrix_.values().data() + begin * bytes;
      values.insert(values.end(), of_row, of_row + (end - begin) * bytes);
    }
    std::visit(
        [&]<class S>(const detail::EntryTableHandle<S>& entry) {
          auto made = std::make_shared<DistributedOperator<S>>(ranks_, partition_, entry, rows,
                                                               values, outcome_.choice.plan,
                                                               options_.ranks.mode(), device_);
          tree_.emplace(StoredTree{{outcome_.entry, std::shared_ptr<const LinearOperator<S>>(made)},
                                   AnyOperator(outcome_.entry, made->diagonal()),
                                   {}});
          summary_ = [this, made] { return summary_of(ranks_, *made); };
        },
        detail::entry_table_of(matrix_));
    make_solver();
    if (outcome_.method.looks_ahead(matrix_, tree_->matrix, preconditioner_, options_.shift)) {
      make_solver();
    }
  }

  /// A diagonal entry without inverse is one rank's, and all ranks' end.
  void make_solver() {
    solver_.reset();
    try {
      solver_.emplace(*tree_, *outcome_.method.method, preconditioner_, settings_, options_.shift);
    } catch (const Error& error) {
      if (preconditioner_.has(PreconditionerKind::multigrid)) throw;  // it counts the rows of all
      if (error.kind() != ErrorKind::singular) throw;
      throw Error(error.kind(), "rank " + std::to_string(ranks_.rank()) + ", whose rows begin at " +
                                    std::to_string(row_at(0)) + ": " + error.what() +
                                    "; use --preconditioner none");
    }
  }

  void make_right_hand_sides() {
    const int count = options_.right_hand_sides;
    const AnyLinearOperator& A = tree_->matrix;
    if (options_.rhs == "ones") {
      b_ = right_hand_side(options_.rhs, count, options_.seed, A, 0, device_, nullptr).b;
      outcome_.right_hand_side = "ones";
      return;
    }
    if (!options_.rhs.empty()) {
      Stopwatch reading;
      for (const AnyField& all :
           read_fields_for(A, "--rhs", options_.rhs, outcome_.rows, count, device_, nullptr)) {
        b_.push_back(part_of(all));
      }
      outcome_.right_hand_side = options_.rhs;
      outcome_.read_seconds += reading.seconds();
      return;
    }
    for (int k = 0; k < count; ++k) {
      AnyField& exact = exact_.emplace_back(whole_field());
      fill_random(exact, options_.seed + static_cast<std::uint64_t>(k));
      const AnyField part = part_of(exact);
      AnyField& b = b_.emplace_back(A.row_field());
      A.apply(part, b);
      const Offset scalars = Offset(b.rows()) * b.components();
      for (Offset i = 0; options_.shift != 0 && i < scalars; ++i) {
        b.set(i, b.get(i) + options_.shift * part.get(i));
      }
    }
    outcome_.right_hand_side = random_system_in_words(options_.shift, options_.seed, count);
  }

  AnyField whole_field() const {
    return AnyField(outcome_.rows, tree_->matrix.row_field().components(), outcome_.precision,
                    device_);
  }

  void make_guess() {
    if (options_.guess.empty()) {
      guess_.assign(b_.size(), tree_->matrix.row_field());
      return;
    }
    for (const AnyField& all :
         read_fields_for(tree_->matrix, "--guess", options_.guess, outcome_.rows,
                         options_.right_hand_sides, device_, nullptr)) {
      guess_.push_back(part_of(all));
    }
  }

  void solve(SolveWatch& watch) {
    x_ = solve_repeatedly(
        options_, watch, b_, guess_, [this]() -> SystemSolver& { return *solver_; },
        [this] {
          if (!gives_way()) return false;
          make_solver();
          return true;
        },
        outcome_);
    outcome_.hierarchy = solver_->multigrid();
  }

  /// On GPUs not to a method that keeps a basis, see `check_for_ranks`.
  bool gives_way() {
    const MethodChoice before = outcome_.method;
    if (!outcome_.method.gives_way(outcome_.report())) return false;
    if (!device_.on_gpu() || !outcome_.method.method->restarts) return true;
    outcome_.method = before;
    return false;
  }

  int finish() {
    outcome_.ranks = summary_();
    const std::vector<long long> bytes = gather(ranks_, outcome_.report().bytes_per_iteration);
    outcome_.reports[outcome_.reported].bytes_per_iteration =
        std::accumulate(bytes.begin(), bytes.end(), 0LL);
    std::vector<AnyField> x;
    const bool is_wanted = options_.output.has_value() || !exact_.empty();
    for (AnyField& part : x_) {
      if (!is_wanted) continue;
      x.push_back(whole_field());
      gather_rows(ranks_, partition_, part, x.back());
    }
    for (std::size_t k = 0; k < exact_.size(); ++k) {
      outcome_.errors.push_back(relative_error(x[k], exact_[k]));
    }
    int status = outcome_.report().converged() ? 0 : 1;
    together(ranks_, [&] {
      if (ranks_.rank() != 0) return;
      Stopwatch writing;
      if (options_.output && !outcome_.all_refused()) {
        write_fields(*options_.output, x, outcome_.entry, device_, progress_.get());
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
  Offset first_row_of_matrix_;
  const ComposedChoice& preconditioner_;
  Communicator& ranks_;
  Device device_;  // of this rank
  Device of_all_;
  SolveOutcome outcome_;
  const Partition& partition_;
  std::unique_ptr<TerminalProgress> progress_;
  SolverOptions settings_;
  std::optional<StoredTree> tree_;  // matrix and diagonal, as solvers take them
  std::function<RankSummary()> summary_;
  std::optional<SystemSolver> solver_;
  std::vector<AnyField> b_, guess_, x_;
  std::vector<AnyField> exact_;  // of all ranks' rows
};

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
    if (preconditioner.has(PreconditionerKind::multigrid)) {
      return solve_alone(without_ranks(options), {},
                         "none: iterations of multigrid on ranks are not predicted");
    }
    try {
      check_for_ranks(options, preconditioner, devices.front());
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
    const int of_rank = SolveOfRank(options, system, partition, ranks, device).run([] {});
    if (ranks.rank() == 0) status = of_rank;
  });
  return status;
}

int solve_on_ranks(const SolveOptions& options, Communicator& ranks) {
  std::optional<SystemOnRanks> system;
  std::optional<Partition> partition;
  bool reads_own_rows = false;
  together(ranks, [&] {
    const Device device = options.matrix.on();
    if (device.on_gpu()) {
      throw Error(ErrorKind::unsupported,
                  "ranks that are processes work on the CPU: leave --device out");
    }
    if (const auto file = file_by_rows(options, device)) {
      reads_own_rows = true;
      partition = options.ranks.make_partition(file->rows(), file->entries_of_groups(rows_of_group),
                                               ranks.size());
      system.emplace(read_own_rows(options, *file, *partition, ranks.rank(), device));
    } else {
      system.emplace(system_of(options, read_system(options, device), device));
      partition = options.ranks.make_partition(system->matrix, ranks.size());
    }
  });
  int status = 0;
  guard(ranks, [&] {
    // Processes may have other threads, memory and profiles: one chooses.
    Plan& plan = system->outcome.choice.plan;
    plan = parse_plan(text_of_rank(ranks, 0, to_full_string(plan)));
    if (reads_own_rows) {
      // Entries of one place are one.
      const auto own = static_cast<long long>(system->matrix.entries());
      const std::vector<long long> entries = gather(ranks, own);
      system->outcome.entries = std::accumulate(entries.begin(), entries.end(), 0LL);
    }
    // A process keeps its part, not the whole.
    const auto forget = [&] { system->matrix = AnyMatrix(CsrMatrix<real<double>>()); };
    status = SolveOfRank(options, *system, *partition, ranks, system->device).run(forget);
  });
  return status;
}

}  // namespace heddle::cli
