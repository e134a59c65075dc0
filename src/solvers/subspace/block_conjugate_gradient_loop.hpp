// Block conjugate gradients: rounds, each a run of the recurrence followed by the true residuals.
// Each column is a solve of its own (solve_walk.hpp). Columns that are done take no part in the
// next round.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <span>
#include <utility>
#include <vector>

#include "base/cores.hpp"
#include "base/profiler_range.hpp"
#include "block_conjugate_gradient_basis.hpp"
#include "heddle/block_conjugate_gradient.hpp"
#include "heddle/kernels/loop_state.hpp"
#include "solvers/operators/operator_checks.hpp"
#include "solvers/stopping/report_text.hpp"
#include "solvers/stopping/solve_decisions.hpp"
#include "solvers/stopping/solve_walk.hpp"
#include "solvers/stopping/stop_requests.hpp"

namespace heddle::detail {

template <class S>
struct BlockSystem {
  OperatorReference<S> matrix;
  std::shared_ptr<Preconditioner<S>> preconditioner;  // null for none
  SolverOptions options;
};

/// The loop that `BlockConjugateGradient` owns, whatever its ring.
template <class S>
class BlockSolve {
 public:
  explicit BlockSolve(BlockSystem<S> system) : system_(std::move(system)) {}
  virtual ~BlockSolve() = default;

  /// Number of columns that there is room for.
  virtual int columns() const = 0;
  /// Makes room for `columns` columns, in place of the previous room.
  virtual void reserve(int columns) = 0;
  /// Solves for at most as many columns as there is room for.
  virtual std::vector<Report> solve(std::span<const FieldView<const S>> b,
                                    std::span<const FieldView<S>> x) = 0;

  const BlockSystem<S>& system() const { return system_; }
  void set_options(SolverOptions options) { system_.options = std::move(options); }

  std::vector<std::vector<double>> history;  // for each column
  long long memory = 0;

 private:
  BlockSystem<S> system_;
};

/// A column: its solve, and its place in the current run.
template <class T>
struct BlockColumn {
  static bool is_limit(device::LoopEnd end) {
    return end == device::loop_limit || end == device::loop_time || end == device::loop_cancelled;
  }
  bool has_no_number() const { return !methods::is_finite(state.squared_b); }
  double relative(T squared) const {
    return static_cast<double>(decisions::relative(state, std::sqrt(squared)));
  }

  SolveState<T> state{};
  device::LoopEnd end_of_run = device::loop_runs;  // end of its last run
  T least = 0;                                     // |r|^2 when |r| was last halved
  long long halved = 0;                            // the iteration then
  T drop = 0;  // |r|^2 of the iterate that was kept last, in this run
  bool has_drop = false;
  bool has_left = false;          // left the run before its end
  bool has_arrived = false;       // by the recurrence, in its last iteration
  std::vector<double> residuals;  // residuals of the current run, for the history
};

template <Ring R, class S>
class BlockConjugateGradientLoop final : public BlockSolve<S> {
 public:
  explicit BlockConjugateGradientLoop(BlockSystem<S> system)
      : BlockSolve<S>(std::move(system)),
        matrix_(*this->system().matrix),
        device_(matrix_.device()),
        stream_(device_.stream()),
        reduction_(matrix_.rows(), device_) {}

  /// b, x, its best iterate and its last one at a drop, in addition to the recurrence's fields.
  static constexpr int fields_of_column = 4 + BlockRecurrence<R, S>::fields_of_column;

  int columns() const override { return recurrence_ ? static_cast<int>(b_.size()) : 0; }
  void reserve(int columns) override {
    recurrence_.reset();
    fields_.emplace();
    for (FieldBlock<S>* const block : {&b_, &x_, &best_, &at_drop_}) {
      *block = fields_->make(matrix_, columns);
    }
    recurrence_.emplace(matrix_, this->system().preconditioner.get(), columns, reduction_);
  }

  std::vector<Report> solve(std::span<const FieldView<const S>> b,
                            std::span<const FieldView<S>> x) override {
    const Range range("block solve");
    StopRequests stop(this->system().options.time_limit, stream_.share);
    stop_ = &stop;
    goal_ =
        goal_of<S>(this->system().options,
                   all_rows(matrix_.rows(), stream_) * matrix_.row_components(), StoredScalar::own);
    iterations_ = 0;
    recurrence_->forget_norm();
    this->history.assign(b.size(), {});
    columns_.assign(b.size(), Column());
    if (this->system().preconditioner) this->system().preconditioner->refresh();
    for (std::size_t j = 0; j < columns_.size(); ++j) bring_in(j, b[j], x[j]);
    const double permuted = stop.elapsed();
    judge_guesses();
    while (!active_.empty()) round();
    const double iterated = stop.elapsed();
    std::vector<Report> reports(b.size());
    for (std::size_t j = 0; j < columns_.size(); ++j) bring_out(j, x[j], reports[j]);
    device_.synchronize();
    const long long bytes = bytes_of_column(static_cast<int>(b.size()));
    for (Report& report : reports) {
      report.bytes_per_iteration = bytes;
      report.processors = processors_of(device_);
      report.iterate_seconds = iterated - permuted;
      report.permute_seconds = stop.elapsed() - report.iterate_seconds;
    }
    return reports;
  }

 private:
  using T = sum_t<S>;
  using Column = BlockColumn<T>;

  /// Column j as an executor of solve_walk.hpp; its b - A x becomes field `place` of Q.
  struct ColumnSteps {
    using Sum = T;
    BlockConjugateGradientLoop& loop;
    FieldView<const S> b;
    FieldView<S> x;  // b and x are the caller's in `scale` and `unscale`, which alone read them
    std::size_t j, place = 0;

    SolveState<T>& state() const { return loop.columns_[j].state; }
    template <Decision decision>
    void decide() {
      take_decision<decision>(state(), loop.goal_);
    }
    template <class Body>
    void when(int SolveState<T>::* question, const Body& body) {
      if (state().*question != 0) body(*this);
    }
    void renew_residual() { state().squared_residual = loop.true_residual(j, place); }
    void find_largest() {
      state().largest_b = largest_magnitude<S>(loop.b_[j], loop.reduction_, loop.stream_);
    }
    void scale_right_hand_side() {
      if (state().scaled != 0) bring_in_right_hand_side();
    }
    void bring_in_right_hand_side() {
      permute<S>(b, loop.b_[j], static_cast<S>(state().scale), loop.stream_);
      state().squared_b = loop.squared_norm_of(loop.b_[j]);
    }
    /// Never needed: a run that finds such a direction ends as `loop_not_definite`.
    void look_at_direction() {}
    bool takes_earlier_iterate() {
      if (loop.columns_[j].has_left) {
        loop.take_earlier_iterate(j, place);
        return true;
      }
      if (!Column::is_limit(loop.columns_[j].end_of_run)) loop.take_iterate_at_drop(j, place);
      return false;
    }
    void take_kept() { loop.take_best(j, place); }
    void look_at_rounding() { state().squared_rounding = loop.squared_rounding(loop.x_[j]); }
    void unscale_solution() {
      permute<S>(x, loop.x_[j], static_cast<S>(state().scale), loop.stream_);
      renew_residual();
    }
    void forget_solution() {
      fill<S>(S(0), loop.x_[j], loop.stream_);
      permute<S>(loop.x_[j], x, S(1), loop.stream_);
    }
    void unscale_residual() {}
  };

  T squared_norm_of(const FieldView<S>& field) {
    return real_dot<S>(field, field, reduction_, stream_);
  }
  /// |b - A x|^2 of column j, whose b - A x becomes field `place` of Q.
  T true_residual(std::size_t j, std::size_t place) {
    return matrix_.residual(b_[j], x_[j], recurrence_->q[place], reduction_, stream_);
  }
  void record(std::size_t j, T squared) {
    if (!this->system().options.record_history) return;
    columns_[j].residuals.push_back(columns_[j].relative(squared));
  }
  void add_to_history(std::size_t j) {
    std::vector<double>& from = columns_[j].residuals;
    this->history[j].insert(this->history[j].end(), from.begin(), from.end());
    from.clear();
  }

  /// Bytes that one of `columns` columns moves in an iteration without dependent directions, as
  /// modelled: columns share passes over the matrix, and those over the fields (field_block.hpp).
  long long bytes_of_column(int columns) const {
    const long long alone = matrix_.bytes_of_product();
    if (alone == 0) return 0;
    const long long field = x_.front().scalars() * static_cast<long long>(sizeof(S));
    const long long of_matrix = std::max(0LL, alone - 2 * field);
    constexpr long long most = Reduction<S>::width;
    const long long walks = (columns + most - 1) / most;
    const auto* const preconditioner = this->system().preconditioner.get();
    return 2 * field + of_matrix * walks / columns +
           BlockRecurrence<R, S>::passes_of_column * field +
           (preconditioner != nullptr ? preconditioner->bytes_of_application() : 0);
  }

  /// Brings b and x into the operator's basis, scaled if the squares of b leave the range.
  void bring_in(std::size_t j, const FieldView<const S>& b, const FieldView<S>& x) {
    SolveState<T>& state = columns_[j].state;
    decisions::begin(state, goal_, matrix_.rows(), 0);
    ColumnSteps column{*this, b, x, j};
    column.bring_in_right_hand_side();
    decisions::look_at_right_hand_side(state, goal_);
    if (state.out_of_range != 0) walk::scale(column);
    permute<S>(x, x_[j], static_cast<S>(state.scale), stream_);
    if (state.zero != 0) fill<S>(S(0), x_[j], stream_);
  }
  void judge_guesses() {
    const bool is_suitable = !goal_.checks || is_hermitian();
    active_.clear();
    for (std::size_t j = 0; j < columns_.size(); ++j) {
      SolveState<T>& state = columns_[j].state;
      const std::size_t place = active_.size();
      if (state.end == 0) state.squared_residual = true_residual(j, place);
      T first_squared = 0;
      decisions::judge_guess(state, goal_, matrix_.rows(), &first_squared, false);
      if (columns_[j].has_no_number()) continue;
      record(j, first_squared);
      add_to_history(j);
      if (!is_suitable) decisions::refuse_matrix(state, Status::not_hermitian);
      if (state.end == 0) active_.push_back(j);
    }
  }
  bool is_hermitian() {
    if (!is_hermitian_) {
      const ProbeFields<S> probe{recurrence_->q[0], recurrence_->p[0], recurrence_->image[0],
                                 recurrence_->spare[0]};
      is_hermitian_ = has_symmetry<S>(Symmetry::hermitian, matrix_, probe, reduction_, stream_);
    }
    return *is_hermitian_;
  }

  /// Runs the columns that go on, whose residuals are in Q, and judges each x.
  void round() {
    for (const std::size_t j : active_) {
      if (columns_[j].state.keep_iterate != 0) copy<S>(x_[j], best_[j], stream_);
    }
    const device::LoopEnd end = run();
    for (const std::size_t j : running_) {
      // Another column may have ended the run.
      const bool has_arrived = columns_[j].has_arrived && !BlockColumn<T>::is_limit(end);
      columns_[j].end_of_run = has_arrived ? device::loop_reached : end;
    }
    std::vector<std::size_t> next;
    for (const std::size_t j : active_) {
      const std::size_t place = next.size();
      judge(j, place, iterations_ - began_);
      if (columns_[j].state.end == 0) next.push_back(j);
    }
    active_ = std::move(next);
  }

  void judge(std::size_t j, std::size_t place, long long iterations) {
    SolveState<T>& state = columns_[j].state;
    const device::LoopEnd end = columns_[j].end_of_run;
    add_to_history(j);
    const bool is_indefinite = end == device::loop_not_positive;
    decisions::take_run(state, goal_, is_indefinite ? device::loop_not_definite : end, iterations);
    state.squared_residual = true_residual(j, place);
    ColumnSteps column{*this, b_[j], x_[j], j, place};
    walk::judge_run(column);
    const bool is_worse = state.squared_residual > state.kept_squared;
    if (columns_[j].has_left && state.end != 0 && is_worse) take_best(j, place);
    // Another column may have ended the run.
    const bool has_arrived = std::sqrt(state.squared_residual) <= state.target;
    if (state.end != 0 && has_arrived) state.status = Status::converged;
  }
  void take_best(std::size_t j, std::size_t place) {
    SolveState<T>& state = columns_[j].state;
    copy<S>(best_[j], x_[j], stream_);
    state.squared_residual = true_residual(j, place);
    state.returned = state.kept_guess ? Returned::guess : Returned::best;
  }
  /// Sets x back to its last drop if that has the smaller true residual.
  void take_iterate_at_drop(std::size_t j, std::size_t place) {
    T& squared = columns_[j].state.squared_residual;
    if (!columns_[j].has_drop || squared <= columns_[j].drop) return;
    const T last = squared;
    std::swap(x_[j], at_drop_[j]);
    squared = true_residual(j, place);
    if (squared < last || !methods::is_finite(last)) {
      columns_[j].state.returned = Returned::best;
      return;
    }
    std::swap(x_[j], at_drop_[j]);
    squared = true_residual(j, place);
  }
  /// Ends a column that left because x grew along directions that A does not see. If the recurrence
  /// was true at the last drop, x becomes the iterate there. Otherwise x becomes the best of
  /// earlier runs, and the previous x the new best if it is better.
  void take_earlier_iterate(std::size_t j, std::size_t place) {
    SolveState<T>& state = columns_[j].state;
    if (columns_[j].has_drop) {
      std::swap(x_[j], at_drop_[j]);
      state.squared_residual = true_residual(j, place);
      state.returned = Returned::best;
      if (state.squared_residual <= 4 * columns_[j].drop) return;
    }
    state.returned = state.kept_guess ? Returned::guess : Returned::best;
    if (state.squared_residual < state.kept_squared) {
      state.kept_squared = state.squared_residual;
      state.kept_guess = false;
      std::swap(x_[j], best_[j]);
    } else {
      copy<S>(best_[j], x_[j], stream_);
    }
    state.squared_residual = true_residual(j, place);
  }
  /// |A D x|^2 with random D.
  T squared_rounding(const FieldView<S>& x) {
    const FieldView<S>&from = recurrence_->spare[0], to = recurrence_->image[0];
    copy<S>(x, from, stream_);
    randomize<S>(from, 1, stream_);
    matrix_.apply(S(1), from, S(0), to, stream_);
    return squared_norm_of(to);
  }

  /// Steps until all columns have arrived or left, or something else ends the run for the remaining
  /// ones.
  device::LoopEnd run() {
    running_ = active_;
    began_ = iterations_;
    device::LoopEnd end = recurrence_->begin(static_cast<int>(running_.size()));
    for (const std::size_t j : running_) {
      Column& column = columns_[j];
      column.least = column.drop = column.state.squared_norm;
      column.halved = iterations_;
      column.has_drop = column.has_arrived = column.has_left = false;
    }
    while (end == device::loop_runs) {
      if (recurrence_->rank() == 0) return device::loop_reached;
      recurrence_->turn();
      end = recurrence_->step(running_x());
      if (end != device::loop_runs) break;
      ++iterations_;
      end = judge_step();
      if (end == device::loop_runs && iterations_ >= goal_.max_iterations) {
        return device::loop_limit;
      }
    }
    return end;
  }
  FieldBlock<S> running_x() const {
    FieldBlock<S> x;
    for (const std::size_t j : running_) x.push_back(x_[j]);
    return x;
  }

  /// Judges each column on its own after a step, by the residuals of the recurrence.
  device::LoopEnd judge_step() {
    bool have_arrived = true;
    double worst = 0;
    std::vector<int> staying;
    for (std::size_t i = 0; i < running_.size(); ++i) {
      Column& column = columns_[running_[i]];
      const T squared = recurrence_->squared_residual(static_cast<int>(i));
      record(running_[i], squared);
      worst = std::max(worst, column.relative(squared));
      column.end_of_run = judge_column(running_[i], squared);
      column.has_left = column.end_of_run != device::loop_runs;
      if (!column.has_left) staying.push_back(static_cast<int>(i));
      have_arrived = have_arrived && (column.has_arrived || column.has_left);
    }
    const auto& observer = this->system().options.observer;
    const device::LoopEnd wished =
        stop_->ask(!observer || observer({iterations_, worst, stop_->elapsed()}));
    for (std::size_t i = 0; !have_arrived && i < running_.size(); ++i) {
      keep_at_drop(running_[i], recurrence_->squared_residual(static_cast<int>(i)));
    }
    if (staying.size() < running_.size()) {
      std::vector<std::size_t> next;
      next.reserve(staying.size());
      for (const int i : staying) next.push_back(running_[static_cast<std::size_t>(i)]);
      running_ = std::move(next);
      if (!have_arrived && !recurrence_->keep_columns(staying)) return device::loop_not_finite;
    }
    return have_arrived ? device::loop_reached : wished;
  }
  /// The reason why column j leaves the run: `loop_runs` if it stays.
  device::LoopEnd judge_column(std::size_t j, T squared) {
    Column& column = columns_[j];
    const decisions::RunBounds<T> bounds = decisions::bounds_of_run(column.state, goal_);
    column.has_arrived = squared <= bounds.target;
    if (column.has_arrived) return device::loop_runs;
    if (squared > bounds.growth) return device::loop_grew;
    if (squared <= column.least / 4) {
      column.least = squared;
      column.halved = iterations_;
    }
    // If A is singular along a direction, the residual there stays, and x grows along it.
    constexpr long long patience = 100;
    const long long waiting = iterations_ - column.halved;
    const bool has_stalled = waiting > patience && !recurrence_->has_full_rank();
    const bool is_time = goal_.checks && waiting > 0 && waiting % patience == 0;
    const bool is_rounding = is_time && std::sqrt(squared) <= rounding_of(j);
    return has_stalled || is_rounding ? device::loop_lost : device::loop_runs;
  }
  /// The approximate rounding of b - A x, by the estimated norm of A.
  T rounding_of(std::size_t j) {
    return goal_.epsilon * recurrence_->norm_of_matrix() * std::sqrt(squared_norm_of(x_[j]));
  }
  /// Copies x at every tenfold drop, and when a column arrives before others, whose directions may
  /// spoil it, as long as the residual exceeds the rounding of x. Short runs are not in doubt.
  void keep_at_drop(std::size_t j, T squared) {
    constexpr T tenfold = 100;
    constexpr long long few = 30;
    Column& column = columns_[j];
    const bool is_kept = column.drop <= decisions::bounds_of_run(column.state, goal_).target;
    if (column.has_arrived ? is_kept : !(squared * tenfold <= column.drop)) return;
    if (iterations_ - began_ > few && std::sqrt(squared) < rounding_of(j)) return;
    copy<S>(x_[j], at_drop_[j], stream_);
    column.drop = squared;
    column.has_drop = true;
  }

  void bring_out(std::size_t j, const FieldView<S>& x, Report& report) {
    SolveState<T>& state = columns_[j].state;
    if (!columns_[j].has_no_number()) {
      permute<S>(x_[j], x, static_cast<S>(state.unscale), stream_);
      ColumnSteps column{*this, b_[j], x, j};
      if (state.scaled != 0) walk::unscale(column);
    }
    // At a limit of the others, a column that left early is as good as it gets.
    const bool has_left = columns_[j].has_left && state.status != Status::iteration_limit;
    detail::tell(state, matrix_.rows(), report);
    report.detail = columns_[j].has_no_number()
                        ? text_of_refused_b
                        : text_of_end(state.status, {.info = block_conjugate_gradient_info,
                                                     .end_of_run = columns_[j].end_of_run,
                                                     .grew_in_vain = state.in_vain || has_left});
  }

  const LinearOperator<S>& matrix_;
  Device device_;
  Stream stream_;
  Reduction<S> reduction_;
  std::optional<FieldStore<S>> fields_;
  FieldBlock<S> b_, x_, best_, at_drop_;
  std::optional<BlockRecurrence<R, S>> recurrence_;
  SolveGoal<T> goal_;
  std::vector<Column> columns_;
  std::vector<std::size_t> active_;   // columns that go on; their residuals are the first of Q
  std::vector<std::size_t> running_;  // active columns that have not left the run
  std::optional<bool> is_hermitian_;
  long long iterations_ = 0, began_ = 0;  // iterations of this solve; those before this run
  StopRequests* stop_ = nullptr;          // requests to end the current solve
};

}  // namespace heddle::detail
