#include "solve_system.hpp"

#include <filesystem>
#include <utility>
#include <vector>

#include "heddle/tools/text.hpp"
#include "readable.hpp"
#include "singular_advice.hpp"
#include "solve_least_squares.hpp"
#include "solve_settings.hpp"
#include "solve_watch.hpp"
#include "stopwatch.hpp"

namespace heddle::cli {

namespace {

class SystemSolve {
 public:
  SystemSolve(const SolveOptions& options, const ChosenSystem& system, Placement& placement)
      : options_(options),
        chosen_(system),
        placement_(placement),
        progress_(placement.progress()),
        outcome_(system.outcome),
        watch_(progress_) {
    if (options.monitor && placement.is_first()) watch_.show_table(tolerance());
    settings_ = settings_of(options, watch_);
  }

  int run(const std::function<void()>& stored) {
    Stopwatch building;
    build(stored);
    stored();
    outcome_.build_seconds = building.seconds();
    const RightHandSide& given = right_hand_side();
    std::vector<AnyField> x = solve(given.b, guess(given.b.size()));
    placement_.tell(outcome_.storage);
    outcome_.hierarchy = solver_->multigrid();
    outcome_.narrow_memory = solver_->narrow_memory();
    outcome_.storage.copied_bytes = solver_->copied_bytes();
    find_inconsistent_row(given.b[outcome_.reported]);
    Report& report = outcome_.reports[outcome_.reported];
    report.bytes_per_iteration = placement_.total(report.bytes_per_iteration);
    gather(given.exact, x);
    placement_.on_first([&] { write_and_tell(x); });
    return report.converged() ? 0 : 1;
  }

 private:
  double tolerance() const { return tolerance_of(options_, outcome_.precision); }

  /// Calls `stored` as soon as the matrix that was read is not needed any more.
  void build(const std::function<void()>& stored) {
    placement_.store(chosen_.matrix, TreeUse::solve, outcome_.storage, [&] {
      if (!placement_.may_store_again()) stored();
      make_solver();
    });
    const AnyLinearOperator& A = placement_.matrix();
    if (outcome_.method.looks_at_products(A, options_.shift)) make_solver();
  }

  void make_solver() {
    solver_.reset();
    try {
      solver_.emplace(placement_.matrix(), *outcome_.method.method, chosen_.preconditioner,
                      settings_, options_.shift);
      if (options_.has_narrow_fields()) {
        solver_->refine(placement_.matrix().sliced().value(), chosen_.preconditioner);
      }
    } catch (const Error& error) {
      throw_with_advice(error);
    }
  }

  const RightHandSide& right_hand_side() {
    if (!chosen_.right_hand_side) {
      made_ = placement_.right_hand_side(
          {options_.rhs, options_.right_hand_sides, options_.seed, options_.shift});
      check_block_columns(options_, made_.b.size());
      outcome_.read_seconds += made_.read_seconds;
    }
    const RightHandSide& given = chosen_.right_hand_side ? *chosen_.right_hand_side : made_;
    outcome_.right_hand_side = given.text;
    return given;
  }

  std::vector<AnyField> guess(std::size_t count) const {
    if (options_.guess.empty()) return {count, placement_.matrix().column_field()};
    return placement_.read_guess(options_.guess, static_cast<int>(count));
  }

  /// Solves from the guess as many times as the options say. The report of `reported` gets the
  /// median time.
  std::vector<AnyField> solve(const std::vector<AnyField>& b, const std::vector<AnyField>& guess) {
    std::vector<AnyField> x;
    const auto solve_once = [&] {
      x = guess;
      watch_.begin(*solver_, outcome_.method, b.size());
      outcome_.reports = solver_->solve(b, x);
      outcome_.reported = most_telling(outcome_.reports);
      watch_.end(outcome_.report(), outcome_.reported);
    };
    std::vector<double> seconds;
    for (int repetition = 0; repetition < options_.repetitions; ++repetition) {
      solve_once();
      while (outcome_.method.gives_way(outcome_.report())) {
        make_solver();
        solve_once();
      }
      seconds.push_back(outcome_.report().iterate_seconds);
    }
    outcome_.reports[outcome_.reported].iterate_seconds = median(std::move(seconds));
    return x;
  }

  void find_inconsistent_row(const AnyField& b) {
    if (outcome_.report().converged()) return;
    const int K = b.components();
    for (const Index row : outcome_.rows_of_zeros) {
      for (int k = 0; k < K; ++k) {
        if (b.get(Offset(row) * K + k) == 0) continue;
        outcome_.inconsistent_row = row;
        return;
      }
    }
  }

  /// Gathers all rows of each x, if they are needed.
  void gather(const std::vector<AnyField>& exact, std::vector<AnyField>& x) {
    if (!options_.output && exact.empty()) return;
    for (AnyField& part : x) part = placement_.whole(std::move(part));
    for (std::size_t k = 0; k < exact.size(); ++k) {
      outcome_.errors.push_back(relative_error(x[k], exact[k]));
    }
  }

  void write_and_tell(const std::vector<AnyField>& x) {
    Stopwatch writing;
    if (options_.output && !outcome_.all_refused()) {
      write_fields(*options_.output, x, outcome_.entry, progress_);
    }
    write_history();
    outcome_.write_seconds = writing.seconds();
    if (progress_ != nullptr) progress_->erase();
    ReportLines report = describe(outcome_, chosen_.device);
    tell(report, options_.json, options_.matrix.quiet);
  }

  void write_history() const {
    const std::string title = std::filesystem::path(outcome_.path).filename().string() + ": " +
                              std::string(outcome_.method.method->name) + ", preconditioner " +
                              outcome_.preconditioner;
    options_.history.write(
        history_of(solver_->history(outcome_.reported), outcome_.report(), tolerance()), title,
        matrix_in_words(outcome_) + ", b = " + outcome_.right_hand_side);
  }

  const SolveOptions& options_;
  const ChosenSystem& chosen_;
  Placement& placement_;
  TerminalProgress* progress_;  // null if nothing is to be drawn
  SolveOutcome outcome_;
  SolveWatch watch_;
  SolverOptions settings_;
  std::optional<AnySolver> solver_;
  RightHandSide made_;
};

}  // namespace

int solve_system(const SolveOptions& options, const ChosenSystem& system, Placement& placement,
                 const std::function<void()>& stored) {
  if (system.least_squares) return solve_least_squares(options, system, placement, stored);
  return SystemSolve(options, system, placement).run(stored);
}

int solve_alone(const SolveOptions& given_options, std::optional<ReadMatrix> given,
                const std::string& rank_choice) {
  SolveOptions options = given_options;
  const Device device = options.matrix.on();
  const auto read = [&](Progress* progress) {
    return given ? std::move(given->matrix) : options.matrix.read(progress);
  };
  ReadSystem whole = read_system(options, device, false, read);
  if (given) whole.read.seconds += given->seconds;
  const auto progress = options.matrix.progress();
  ChosenSystem system = choose_alone(options, std::move(whole), device, progress.get());
  system.outcome.rank_choice = rank_choice;
  OneProcess here(options.storage, options.profile, device, progress.get(), [&] {
    return choose_solve_plan(options, subject_of(system.matrix), system.planned_for, device,
                             Profiles());
  });
  if (progress) progress->erase();
  // The storage holds the whole matrix, so that this copy is no longer needed.
  const auto forget = [&] { system.matrix = AnyMatrix(CsrMatrix<real<double>>()); };
  return solve_system(options, system, here, forget);
}

}  // namespace heddle::cli
