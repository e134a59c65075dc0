// Block conjugate gradients: rounds of a run by the recurrence and the true residuals behind it.
// Each column keeps the decisions of a solve of its own (solve_decisions.hpp). Columns that are
// done leave the next round.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "agreed_end.hpp"
#include "base/cores.hpp"
#include "base/range.hpp"
#include "block_conjugate_gradient_basis.hpp"
#include "block_solve.hpp"
#include "operator_checks.hpp"
#include "solve_decisions.hpp"
#include "told_report.hpp"

namespace heddle::detail {

template <Ring R, class S>
class BlockConjugateGradientLoop final : public BlockSolve<S> {
 public:
  explicit BlockConjugateGradientLoop(BlockSystem<S> system)
      : BlockSolve<S>(std::move(system)),
        matrix_(*this->system().matrix),
        device_(matrix_.device()),
        stream_(device_.stream()),
        reduction_(matrix_.rows(), device_) {}

  /// b, x and its best iterate, beside the recurrence's.
  static constexpr int fields_of_column = 3 + BlockRecurrence<R, S>::fields_of_column;

  int columns() const override { return recurrence_ ? static_cast<int>(b_.size()) : 0; }
  void reserve(int columns) override {
    recurrence_.reset();
    fields_.emplace();
    for (FieldBlock<S>* const block : {&b_, &x_, &best_}) *block = fields_->make(matrix_, columns);
    recurrence_.emplace(matrix_, this->system().preconditioner.get(), columns, reduction_);
  }

  std::vector<Report> solve(std::span<const FieldView<const S>> b,
                            std::span<const FieldView<S>> x) override {
    const Range range("block solve");
    AgreedEnd agreed(stream_.share);
    agreed_ = &agreed;
    start_ = Clock::now();
    goal_ =
        goal_of<S>(this->system().options,
                   all_rows(matrix_.rows(), stream_) * matrix_.row_components(), StoredScalar::own);
    iterations_ = 0;
    end_of_run_ = device::loop_runs;
    recurrence_->forget_norm();
    this->history.assign(b.size(), {});
    columns_.assign(b.size(), Column());
    if (this->system().preconditioner) this->system().preconditioner->refresh();
    for (std::size_t j = 0; j < columns_.size(); ++j) bring_in(j, b[j], x[j]);
    const double permuted = elapsed();
    judge_guesses();
    while (!active_.empty()) round();
    const double iterated = elapsed();
    std::vector<Report> reports(b.size());
    for (std::size_t j = 0; j < columns_.size(); ++j) bring_out(j, x[j], reports[j]);
    device_.synchronize();
    const long long bytes = bytes_of_column(static_cast<int>(b.size()));
    for (Report& report : reports) {
      report.bytes_per_iteration = bytes;
      report.processors = processors_of(device_);
      report.iterate_seconds = iterated - permuted;
      report.permute_seconds = elapsed() - report.iterate_seconds;
    }
    return reports;
  }

 private:
  using T = sum_t<S>;
  using Clock = std::chrono::steady_clock;

  struct Column {
    SolveState<T> state{};
    int end_of_run = device::loop_runs;  // of its last one
    T least = 0;                         // |r|^2, when it was halved last
    std::vector<double> residuals;       // of the run that goes on, for the history
  };

  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  T squared_norm_of(const FieldView<S>& field) {
    return real_dot<S>(field, field, reduction_, stream_);
  }
  /// |b - A x|^2 of column j, whose b - A x becomes field `place` of Q.
  T true_residual(std::size_t j, std::size_t place) {
    return matrix_.residual(b_[j], x_[j], recurrence_->q[place], reduction_, stream_);
  }
  static double relative(const SolveState<T>& state, T squared) {
    const T norm = std::sqrt(squared);
    return static_cast<double>(state.baseline > 0 ? norm / state.baseline : norm);
  }
  void record(std::size_t j, T squared) {
    if (!this->system().options.record_history) return;
    columns_[j].residuals.push_back(relative(columns_[j].state, squared));
  }
  void add_to_history(std::size_t j) {
    std::vector<double>& from = columns_[j].residuals;
    this->history[j].insert(this->history[j].end(), from.begin(), from.end());
    from.clear();
  }

  /// What one column of so many moves in an iteration without dependent directions, as modelled:
  /// columns share passes over the matrix, and those over the fields (field_block.hpp).
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

  /// In the operator's basis, scaled where b leaves the range of squares.
  void bring_in(std::size_t j, const FieldView<const S>& b, const FieldView<S>& x) {
    SolveState<T>& state = columns_[j].state;
    decisions::begin(state, goal_, matrix_.rows(), 0);
    permute<S>(b, b_[j], S(1), stream_);
    state.squared_b = squared_norm_of(b_[j]);
    decisions::look_at_right_hand_side(state, goal_);
    if (state.out_of_range != 0) {
      state.largest_b = largest_magnitude<S>(b_[j], reduction_, stream_);
      decisions::choose_scale(state, goal_);
      if (state.scaled != 0) {
        permute<S>(b, b_[j], static_cast<S>(state.scale), stream_);
        state.squared_b = squared_norm_of(b_[j]);
      }
      decisions::look_at_scaled_right_hand_side(state);
    }
    permute<S>(x, x_[j], static_cast<S>(state.scale), stream_);
    if (state.zero != 0) fill<S>(S(0), x_[j], stream_);
  }
  static bool has_no_number(const SolveState<T>& state) {
    return !methods::is_finite(state.squared_b);
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
      if (has_no_number(state)) continue;
      record(j, first_squared);
      add_to_history(j);
      if (!is_suitable && (state.end == 0 || state.status == Status::iteration_limit)) {
        decisions::end_solve(state, Status::not_hermitian);
      }
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

  /// A run of the columns that go on, whose residuals are in Q, and what each x is worth.
  void round() {
    for (const std::size_t j : active_) {
      if (columns_[j].state.keep_iterate != 0) copy<S>(x_[j], best_[j], stream_);
    }
    const long long before = iterations_;
    end_of_run_ = run();
    std::vector<std::size_t> next;
    for (const std::size_t j : active_) {
      const std::size_t place = next.size();
      judge(j, place, iterations_ - before);
      if (columns_[j].state.end == 0) next.push_back(j);
    }
    active_ = std::move(next);
  }

  void judge(std::size_t j, std::size_t place, long long iterations) {
    SolveState<T>& state = columns_[j].state;
    columns_[j].end_of_run = end_of_run_;
    add_to_history(j);
    const bool is_indefinite = end_of_run_ == device::loop_not_positive;
    decisions::take_run(state, goal_, is_indefinite ? device::loop_not_definite : end_of_run_,
                        iterations);
    state.squared_residual = true_residual(j, place);
    decisions::choose_iterate(state);
    if (state.take_kept != 0) {
      copy<S>(best_[j], x_[j], stream_);
      state.squared_residual = true_residual(j, place);
    }
    decisions::look_at_iterate(state, goal_);
    if (state.in_doubt != 0) state.squared_rounding = squared_rounding(x_[j]);
    decisions::judge_iterate(state, goal_);
    // Another column may have ended the run.
    const bool has_arrived = std::sqrt(state.squared_residual) <= state.target;
    if (state.end != 0 && has_arrived) state.status = Status::converged;
  }
  /// |A D x|^2 with random D.
  T squared_rounding(const FieldView<S>& x) {
    const FieldView<S>&from = recurrence_->spare[0], to = recurrence_->image[0];
    copy<S>(x, from, stream_);
    randomize<S>(from, 1, stream_);
    matrix_.apply(S(1), from, S(0), to, stream_);
    return squared_norm_of(to);
  }

  /// Steps until all columns have arrived, or something else ends it.
  device::LoopEnd run() {
    FieldBlock<S> x;
    for (const std::size_t j : active_) x.push_back(x_[j]);
    device::LoopEnd end = recurrence_->begin(static_cast<int>(active_.size()));
    halved_ = iterations_;
    for (const std::size_t j : active_) columns_[j].least = columns_[j].state.squared_norm;
    while (end == device::loop_runs) {
      if (recurrence_->rank() == 0) return device::loop_reached;
      recurrence_->turn();
      end = recurrence_->step(x);
      if (end != device::loop_runs) break;
      ++iterations_;
      end = judge_step();
      if (end == device::loop_runs && iterations_ >= goal_.max_iterations) {
        return device::loop_limit;
      }
    }
    return end;
  }

  /// After a step, by the residuals of the recurrence.
  device::LoopEnd judge_step() {
    bool has_arrived = true, has_grown = false;
    double worst = 0;
    for (std::size_t i = 0; i < active_.size(); ++i) {
      const std::size_t j = active_[i];
      Column& column = columns_[j];
      const T squared = recurrence_->squared_residual(static_cast<int>(i));
      record(j, squared);
      worst = std::max(worst, relative(column.state, squared));
      const decisions::RunBounds<T> bounds = decisions::bounds_of_run(column.state, goal_);
      has_grown = has_grown || squared > bounds.growth;
      if (squared <= bounds.target) continue;
      has_arrived = false;
      if (squared <= column.least / 4) {
        column.least = squared;
        halved_ = iterations_;
      }
    }
    const device::LoopEnd wished = (*agreed_)(wish(worst));
    if (has_arrived) return device::loop_reached;
    if (has_grown) return device::loop_grew;
    // Where A is singular along a direction, what lies there stays.
    constexpr long long patience = 100;
    if (!recurrence_->has_full_rank() && iterations_ - halved_ > patience) {
      return device::loop_lost;
    }
    return wished;
  }
  /// Of this rank.
  device::LoopEnd wish(double worst) const {
    const SolverOptions& options = this->system().options;
    const double seconds = elapsed();
    if (seconds >= options.time_limit) return device::loop_time;
    const bool goes_on = !options.observer || options.observer({iterations_, worst, seconds});
    return goes_on ? device::loop_runs : device::loop_cancelled;
  }

  void bring_out(std::size_t j, const FieldView<S>& x, Report& report) {
    SolveState<T>& state = columns_[j].state;
    if (!has_no_number(state)) {
      permute<S>(x_[j], x, static_cast<S>(state.unscale), stream_);
      if (state.scaled != 0) look_at_unscaled(j, x);
    }
    detail::tell(state, matrix_.rows(), report);
    report.detail = detail_of(columns_[j]);
  }
  /// What was lost on the way to the caller's scale.
  void look_at_unscaled(std::size_t j, const FieldView<S>& x) {
    SolveState<T>& state = columns_[j].state;
    permute<S>(x, x_[j], static_cast<S>(state.scale), stream_);
    state.squared_residual = true_residual(j, 0);
    decisions::judge_unscaled(state);
    if (state.lost == 0) return;
    fill<S>(S(0), x_[j], stream_);
    permute<S>(x_[j], x, S(1), stream_);
  }

  static std::string_view detail_of(const Column& column) {
    const bool has_run = column.end_of_run != device::loop_runs;
    switch (column.state.status) {
      case Status::not_hermitian:
        return "<y, A x> and <A y, x> differ";
      case Status::accuracy_limit:
        return "x is as good as its precision lets it be";
      case Status::out_of_range:
        return "the solution is too large or too small for these numbers";
      case Status::not_finite:
        if (has_no_number(column.state)) return "the right-hand side is not finite";
        return has_run ? "the iteration overflowed, or has a NaN"
                       : "the residual of the guess is not finite, or too large";
      case Status::indefinite:
        return column.end_of_run == device::loop_not_definite
                   ? "r* M^-1 r is negative: the preconditioner is not positive definite"
                   : "p* A p is negative: the matrix is not positive definite";
      case Status::stagnated:
      case Status::breakdown:
        if (column.end_of_run == device::loop_lost) {
          return "p* A p vanishes: the matrix is singular, or beyond the range of squares";
        }
        return column.end_of_run == device::loop_grew
                   ? "the residual grew until rounding left no digit of x"
                   : "the true residual does not follow the recurrence";
      default:
        return "";
    }
  }

  const LinearOperator<S>& matrix_;
  Device device_;
  Stream stream_;
  Reduction<S> reduction_;
  std::optional<FieldStore<S>> fields_;
  FieldBlock<S> b_, x_, best_;
  std::optional<BlockRecurrence<R, S>> recurrence_;
  SolveGoal<T> goal_;
  std::vector<Column> columns_;
  std::vector<std::size_t> active_;  // columns that go on; their residuals are the first of Q
  std::optional<bool> is_hermitian_;
  long long iterations_ = 0;
  long long halved_ = 0;  // when some residual of this run was, last
  device::LoopEnd end_of_run_ = device::loop_runs;
  Clock::time_point start_;
  AgreedEnd* agreed_ = nullptr;  // of the solve that goes on
};

}  // namespace heddle::detail
