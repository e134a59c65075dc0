// LSMR on fields: the bidiagonalization of Golub and Kahan, and when a solve ends.
#pragma once

#include <algorithm>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/profiler_range.hpp"
#include "fields/fits_in_place.hpp"
#include "heddle/lsmr.hpp"
#include "lsmr_recurrence.hpp"
#include "solvers/operators/operator_field.hpp"
#include "solvers/stopping/report_text.hpp"
#include "solvers/stopping/solve_walk.hpp"
#include "solvers/stopping/stop_requests.hpp"

namespace heddle::detail {

template <class S>
class LsmrLoop {
 public:
  /// Numbers of row fields and of column fields that the loop may allocate.
  static constexpr int row_fields = 2;
  static int column_fields(const LeastSquaresOptions& options) {
    return options.damping != 0 ? 5 : 4;
  }

  LsmrLoop(OperatorReference<S> matrix, OperatorReference<S> adjoint, LeastSquaresOptions options)
      : matrix_(std::move(matrix)),
        adjoint_(std::move(adjoint)),
        options_(std::move(options)),
        device_(matrix_->device()),
        stream_(device_.stream()),
        row_sums_(matrix_->rows(), device_),
        column_sums_(matrix_->columns(), device_),
        u_(row_field_of(*matrix_)),
        v_(column_field_of(*matrix_)),
        h_(column_field_of(*matrix_)),
        h_bar_(column_field_of(*matrix_)),
        damping_(static_cast<T>(options_.damping)) {
    if (damping_ != 0) low_.emplace(column_field_of(*matrix_));
  }

  LeastSquaresReport solve(const FieldView<const S>& b, const FieldView<S>& x) {
    const Range range("least squares");
    StopRequests stop(options_.time_limit, stream_.share);
    stop_ = &stop;
    report_ = {};
    history_ = run_history_ = {};
    is_over_ = false;
    user_b_ = b;
    user_x_ = x;
    if (!bring_in()) return report_;
    report_.permute_seconds = stop.elapsed();
    stop.start_clock();
    iterate();
    report_.iterate_seconds = stop.elapsed();
    stop.start_clock();
    if (x_.data != x.data) permute<S>(x_, x, static_cast<S>(state_.unscale), stream_);
    if (state_.scaled != 0) walk::unscale(*this);
    device_.synchronize();
    report_.permute_seconds += stop.elapsed();
    tell();
    return report_;
  }

  // The interface of an executor of solve_walk.hpp, used for scaling; a gradient judges here, not
  // the residual alone.
  using Sum = sum_t<S>;
  template <Decision decision>
  void decide() {
    if constexpr (decision == Decision::judge_unscaled) {
      judge_unscaled();
    } else {
      take_decision<decision>(state_, goal_);
    }
  }
  template <class Body>
  void when(int SolveState<Sum>::* question, const Body& body) {
    if (state_.*question != 0) body(*this);
  }
  void find_largest() { state_.largest_b = largest_magnitude<S>(b_, row_sums_, stream_); }
  void scale_right_hand_side() {
    if (state_.scaled != 0) take_right_hand_side();
  }
  void unscale_solution() {
    permute<S>(user_x_, x_, static_cast<S>(state_.scale), stream_);
    last_ = {residual_, gradient_};
    begin();
  }
  void forget_solution() {
    fill<S>(S(0), x_, stream_);
    permute<S>(x_, user_x_, S(1), stream_);
    begin();
  }
  void unscale_residual() {}

  const LinearOperator<S>& matrix() const { return *matrix_; }
  const LeastSquaresHistory& history() const { return history_; }
  long long memory = 0;

 private:
  using T = sum_t<S>;

  static constexpr T epsilon = std::numeric_limits<S>::epsilon();

  T squared_norm(const FieldView<const S>& column_field) {
    return real_dot<S>(column_field, column_field, column_sums_, stream_);
  }
  T squared_row_norm(const FieldView<const S>& row_field) {
    return real_dot<S>(row_field, row_field, row_sums_, stream_);
  }
  void end(Status status, std::string_view detail = "") {
    report_.status = status;
    report_.detail = detail;
    is_over_ = true;
  }

  /// Brings b and x into the operator's bases, scaled if squares of b leave the range; false for a
  /// b that is not finite.
  bool bring_in() {
    decisions::begin(state_, goal_, matrix_->rows(), 0);
    const VectorLayout layout = matrix_->vector_layout();
    if (fits_in_place<S>(user_b_, layout, matrix_->row_basis(), stream_)) {
      b_ = user_b_;
      state_.squared_b = squared_row_norm(b_);
    } else {
      take_right_hand_side();
    }
    decisions::look_at_right_hand_side(state_, goal_);
    if (state_.out_of_range != 0) walk::scale(*this);
    if (state_.end != 0) {
      end(Status::not_finite, text_of_refused_b);
      report_.residual_norm = report_.gradient_norm = report_.residual = report_.gradient =
          std::numeric_limits<double>::quiet_NaN();
      return false;
    }
    norm_of_b_ = std::sqrt(state_.squared_b);
    x_ = user_x_;
    if (state_.scaled != 0 ||
        !fits_in_place<S>(user_x_, layout, matrix_->column_basis(), stream_)) {
      if (!own_x_) own_x_.emplace(column_field_of(*matrix_));
      permute<S>(user_x_, own_x_->view, static_cast<S>(state_.scale), stream_);
      x_ = own_x_->view;
    }
    return true;
  }
  void take_right_hand_side() {
    if (!own_b_) own_b_.emplace(row_field_of(*matrix_));
    permute<S>(user_b_, own_b_->view, static_cast<S>(state_.scale), stream_);
    b_ = own_b_->view;
    state_.squared_b = squared_row_norm(b_);
  }

  /// The operator that runs multiply by until one has not helped. A run continues until its own
  /// recurrence reaches the tolerance; on a copy in 16 bits that departs from the true residual
  /// long before.
  static const LinearOperator<S>* read_first(const LinearOperator<S>& matrix) {
    const StoredScalar kept = matrix.iterated_as();
    const bool in_words = kept != StoredScalar::own && kept != StoredScalar::single;
    return in_words ? &matrix : &matrix.iterated();
  }

  void iterate() {
    const LinearOperator<S>* by = read_first(*matrix_);
    const LinearOperator<S>* by_adjoint = read_first(*adjoint_);
    bytes_ = 0;
    matrix_norm_ = 0;
    int fruitless = 0;
    if (norm_of_b_ == 0) fill<S>(S(0), x_, stream_);
    begin();
    record(gradient_, residual_);
    add_to_history();
    T min_gradient = gradient_, min_residual = residual_;
    judge(0);
    while (!is_over_) {
      run(*by, *by_adjoint);
      add_to_history();
      begin();
      const bool helped = gradient_ <= min_gradient / 2 || residual_ <= min_residual / 2;
      if (!helped) {
        // A copy in floats may be what keeps x from being better.
        by = &*matrix_;
        by_adjoint = &*adjoint_;
      }
      fruitless = helped ? 0 : fruitless + 1;
      min_gradient = std::min(min_gradient, gradient_);
      min_residual = std::min(min_residual, residual_);
      judge(fruitless);
      if (!is_over_) ++report_.restarts;
    }
  }

  /// Computes u, v and true norms from x itself, to start a run and to judge the previous one.
  void begin() {
    T squared = matrix_->residual(b_, x_, u_.view, row_sums_, stream_);
    report_.residual_norm = static_cast<double>(std::sqrt(squared));
    norm_of_x_ = std::sqrt(squared_norm(x_));
    if (low_) {
      axpby<S>(static_cast<S>(-damping_), x_, S(0), low_->view, stream_);
      squared += squared_norm(low_->view);
    }
    beta_ = std::sqrt(squared);
    residual_ = beta_;
    alpha_ = 0;
    leaves_range_ = false;
    if (beta_ > 0) {
      adjoint_->apply(static_cast<S>(1 / beta_), u_.view, S(0), v_.view, stream_);
      add_damped();
      const T squared_alpha = squared_norm(v_.view);
      alpha_ = std::sqrt(squared_alpha);
      leaves_range_ = !has_square(squared_alpha, v_.view);
    }
    gradient_ = alpha_ * beta_;
    matrix_norm_ = std::max(matrix_norm_, alpha_);
  }
  /// True if the sum of squares shows how large the field is: the squares neither underflow nor
  /// overflow.
  bool has_square(T squared, const FieldView<const S>& column_field) {
    constexpr T least = std::numeric_limits<T>::min() / std::numeric_limits<T>::epsilon();
    if (squared >= least && std::isfinite(squared)) return true;
    const T largest = largest_magnitude<S>(column_field, column_sums_, stream_);
    return !std::isfinite(largest) || largest == 0;
  }
  /// v += low damping / beta.
  void add_damped() {
    if (low_) axpby<S>(static_cast<S>(damping_ / beta_), low_->view, S(1), v_.view, stream_);
  }

  bool is_good(T gradient, T residual, T tolerance) const {
    return gradient <= tolerance * matrix_norm_ * residual ||
           residual <= tolerance * (norm_of_b_ + matrix_norm_ * norm_of_x_);
  }
  /// True if gradient or residual is as small as the rounding of x and b allows, times `factor`.
  bool is_rounding(T gradient, T residual, T factor) const {
    const T size = factor * epsilon * (norm_of_b_ + matrix_norm_ * norm_of_x_);
    return gradient <= size * matrix_norm_ || residual <= size;
  }

  /// Decides by the true norms of x whether the solve ends.
  void judge(int fruitless) {
    constexpr T some = 4, most = 64;
    if (leaves_range_ && !(residual_ <= static_cast<T>(options_.tolerance) * norm_of_b_)) {
      end(Status::out_of_range, std::isfinite(alpha_)
                                    ? "the squares of the operator's numbers underflow"
                                    : "the squares of the operator's numbers overflow");
    } else if (!std::isfinite(gradient_) || !std::isfinite(norm_of_x_)) {
      end(Status::not_finite, report_.iterations == 0 ? text_of_refused_guess : text_of_overflow);
    } else if (gradient_ == 0 ||
               is_good(gradient_, residual_, static_cast<T>(options_.tolerance))) {
      end(Status::converged);
    } else if (fruitless > 0 && is_rounding(gradient_, residual_, fruitless > 1 ? most : some)) {
      end(Status::accuracy_limit, text_of_accuracy_limit);
    } else if (is_over_) {
      return;  // ended by a limit
    } else if (fruitless > 1) {
      end(Status::stagnated, text_of_stagnation);
    } else if (report_.iterations >= options_.max_iterations) {
      end(Status::iteration_limit);
    }
  }

  /// Runs from `begin` until the recurrence or a limit ends it. `u` and `v` carry the factors beta
  /// and alpha, which the next products remove.
  void run(const LinearOperator<S>& by, const LinearOperator<S>& by_adjoint) {
    recurrence_.begin(alpha_, beta_);
    axpby<S>(static_cast<S>(1 / alpha_), v_.view, S(0), h_.view, stream_);
    fill<S>(S(0), h_bar_.view, stream_);
    T gradient = gradient_, residual = residual_;
    while (goes_on(gradient, residual)) {
      const T last_beta = beta_, last_alpha = alpha_;
      by.apply(static_cast<S>(1 / alpha_), v_.view, static_cast<S>(-alpha_ / beta_), u_.view,
               stream_);
      T squared = squared_row_norm(u_.view);
      if (low_) {
        axpby<S>(static_cast<S>(damping_ / alpha_), v_.view, static_cast<S>(-alpha_ / beta_),
                 low_->view, stream_);
        squared += squared_norm(low_->view);
      }
      beta_ = std::sqrt(squared);
      // An exhausted space leaves nothing but rounding.
      if (beta_ <= epsilon * last_alpha) beta_ = 0;
      alpha_ = 0;
      if (beta_ > 0) {
        by_adjoint.apply(static_cast<S>(1 / beta_), u_.view, static_cast<S>(-beta_ / last_alpha),
                         v_.view, stream_);
        add_damped();
        alpha_ = std::sqrt(squared_norm(v_.view));
        if (alpha_ <= epsilon * std::max(beta_, last_beta)) alpha_ = 0;
      }
      ++report_.iterations;
      count_bytes(by, by_adjoint);
      if (!recurrence_.step(beta_, alpha_)) return record(gradient, residual);
      axpby<S>(S(1), h_.view, static_cast<S>(recurrence_.of_h_bar), h_bar_.view, stream_);
      axpby<S>(static_cast<S>(recurrence_.of_x), h_bar_.view, S(1), x_, stream_);
      if (!(alpha_ > 0)) return record(recurrence_.gradient(), recurrence_.residual);
      axpby<S>(static_cast<S>(1 / alpha_), v_.view, static_cast<S>(recurrence_.of_h), h_.view,
               stream_);
      norm_of_x_ = std::sqrt(squared_norm(x_));
      matrix_norm_ = std::max(matrix_norm_, recurrence_.matrix_norm);
      report_.condition = std::max(report_.condition, static_cast<double>(recurrence_.condition));
      gradient = recurrence_.gradient();
      residual = recurrence_.residual;
      record(gradient, residual);
    }
  }

  /// The gradient relative to |A| |r|, and the residual relative to |b|, as far as these are known.
  double relative_gradient(T gradient, T residual) const {
    const T size = matrix_norm_ * residual;
    return static_cast<double>(size > 0 ? gradient / size : gradient);
  }
  double relative_residual(T residual) const {
    return static_cast<double>(norm_of_b_ > 0 ? residual / norm_of_b_ : residual);
  }
  void record(T gradient, T residual) {
    if (!options_.record_history) return;
    run_history_.gradients.push_back(relative_gradient(gradient, residual));
    run_history_.residuals.push_back(relative_residual(residual));
  }
  void add_to_history() {
    const auto move = [](std::vector<double>& from, std::vector<double>& to) {
      to.insert(to.end(), from.begin(), from.end());
      from.clear();
    };
    move(run_history_.gradients, history_.gradients);
    move(run_history_.residuals, history_.residuals);
  }

  bool goes_on(T gradient, T residual) {
    constexpr T tenth = T(1) / 10;
    if (recurrence_.residual > 0 &&
        (is_good(gradient, residual, static_cast<T>(options_.tolerance)) ||
         is_rounding(gradient, residual, tenth) || !std::isfinite(gradient + residual))) {
      return false;
    }
    const device::LoopEnd request =
        stop_->ask(!options_.observer ||
                   options_.observer({{report_.iterations, relative_gradient(gradient, residual),
                                       stop_->elapsed()},
                                      relative_residual(residual)}));
    const bool is_at_limit = report_.iterations >= options_.max_iterations;
    const Status status = status_of_request(request, is_at_limit);
    if (status != Status::converged) end(status);
    return !is_over_;
  }

  /// Counts products, and passes over fields: one over rows, eleven over columns, seven more with
  /// damping.
  void count_bytes(const LinearOperator<S>& by, const LinearOperator<S>& by_adjoint) {
    const long long there = by.bytes_of_product(), back = by_adjoint.bytes_of_product();
    if (there == 0 || back == 0) return;
    constexpr auto scalar = static_cast<long long>(sizeof(S));
    const long long passes = low_ ? 18 : 11;
    bytes_ += there + back + scalar * (u_.view.scalars() + passes * v_.view.scalars());
  }

  /// Judges an x that lost digits in the caller's scale, or all of them if it overflowed.
  void judge_unscaled() {
    const bool is_same = residual_ == last_.residual && gradient_ == last_.gradient;
    if (is_same && std::isfinite(norm_of_x_)) return;
    state_.lost = std::isfinite(residual_ + gradient_ + norm_of_x_) ? 0 : 1;
    const bool is_solution = is_good(gradient_, residual_, static_cast<T>(options_.tolerance));
    if (state_.lost != 0 || (report_.solved() && !is_solution)) {
      end(Status::out_of_range, text_of_loss_in_scale);
    }
  }

  void tell() {
    const T back = state_.unscale;
    report_.gradient = relative_gradient(gradient_, residual_);
    report_.residual = norm_of_b_ > 0 ? report_.residual_norm / static_cast<double>(norm_of_b_) : 0;
    report_.residual_norm = static_cast<double>(static_cast<T>(report_.residual_norm) * back);
    report_.gradient_norm = static_cast<double>(gradient_ * back);
    report_.right_hand_side_norm = static_cast<double>(norm_of_b_ * back);
    report_.solution_norm = static_cast<double>(norm_of_x_ * back);
    report_.matrix_norm = static_cast<double>(matrix_norm_);
    if (report_.iterations > 0) report_.bytes_per_iteration = bytes_ / report_.iterations;
  }

  OperatorReference<S> matrix_, adjoint_;
  LeastSquaresOptions options_;
  Device device_;
  Stream stream_;
  Reduction<S> row_sums_, column_sums_;
  OperatorField<S> u_, v_, h_, h_bar_;
  std::optional<OperatorField<S>> low_;  // the part of u in the rows of d, with damping
  std::optional<OperatorField<S>> own_b_, own_x_;
  T damping_;
  FieldView<const S> b_, user_b_;
  FieldView<S> x_, user_x_;
  SolveGoal<T> goal_{.range = scale_range<S, T>()};
  SolveState<T> state_{};  // for the scale
  LsmrRecurrence<T> recurrence_;
  T alpha_ = 0, beta_ = 0;
  T residual_ = 0, gradient_ = 0;  // true values, of the last `begin`
  T matrix_norm_ = 0, norm_of_x_ = 0, norm_of_b_ = 0;
  bool is_over_ = false;
  bool leaves_range_ = false;  // the squares of A* r / |r| left it in the last `begin`
  long long bytes_ = 0;
  struct {
    T residual, gradient;
  } last_{};                      // before x was in the caller's scale
  StopRequests* stop_ = nullptr;  // requests to end the current solve
  LeastSquaresReport report_;
  LeastSquaresHistory history_, run_history_;  // the latter of the current run
};

}  // namespace heddle::detail
