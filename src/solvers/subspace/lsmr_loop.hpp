// LSMR on fields: the bidiagonalization of Golub and Kahan, and when a solve ends.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include "base/range.hpp"
#include "fields/fits_in_place.hpp"
#include "heddle/lsmr.hpp"
#include "lsmr_recurrence.hpp"
#include "solvers/operators/operator_field.hpp"
#include "solvers/stopping/agreed_end.hpp"
#include "solvers/stopping/scale_range.hpp"

namespace heddle::detail {

template <class S>
class LsmrLoop {
 public:
  /// Fields that it may allocate, of rows and of columns.
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
    AgreedEnd agreed(stream_.share);
    agreed_ = &agreed;
    const auto entered = Clock::now();
    report_ = {};
    history_ = run_history_ = {};
    if (!bring_in(b, x)) return report_;
    start_ = Clock::now();
    report_.permute_seconds = seconds(entered, start_);
    iterate();
    const auto left = Clock::now();
    report_.iterate_seconds = seconds(start_, left);
    if (scale_ != 1 || x_.data != x.data) permute<S>(x_, x, S(1) / scale_, stream_);
    if (scale_ != 1) look_at_unscaled(x);
    device_.synchronize();
    report_.permute_seconds += seconds(left, Clock::now());
    tell();
    return report_;
  }

  const LinearOperator<S>& matrix() const { return *matrix_; }
  const LeastSquaresHistory& history() const { return history_; }
  long long memory = 0;

 private:
  using T = sum_t<S>;
  using Clock = std::chrono::steady_clock;

  static constexpr T epsilon = std::numeric_limits<S>::epsilon();
  static double seconds(Clock::time_point from, Clock::time_point to) {
    return std::chrono::duration<double>(to - from).count();
  }
  double elapsed() const { return seconds(start_, Clock::now()); }

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

  /// b and x in the operator's bases, scaled where squares of b leave the range; false for a b that
  /// is not finite.
  bool bring_in(const FieldView<const S>& b, const FieldView<S>& x) {
    scale_ = 1;
    is_over_ = false;
    b_ = b;
    const auto take_b = [&] {
      if (!own_b_) own_b_.emplace(row_field_of(*matrix_));
      permute<S>(b, own_b_->view, scale_, stream_);
      b_ = own_b_->view;
    };
    const VectorLayout layout = matrix_->vector_layout();
    if (!fits_in_place<S>(b, layout, matrix_->row_basis(), stream_)) take_b();
    T squared = squared_row_norm(b_);
    const ScaleRange<T> scales = scale_range<S, T>();
    const T largest = scales.holds(squared) ? T(1) : largest_magnitude<S>(b_, row_sums_, stream_);
    if (!std::isfinite(largest)) {
      end(Status::not_finite, "the right-hand side is not finite");
      report_.residual_norm = report_.gradient_norm = report_.residual = report_.gradient =
          std::numeric_limits<double>::quiet_NaN();
      return false;
    }
    if (!scales.holds(squared) && largest > 0) {
      scale_ = static_cast<S>(std::exp2(-scales.exponent(largest)));
      take_b();
      squared = squared_row_norm(b_);
    }
    norm_of_b_ = std::sqrt(squared);
    x_ = x;
    if (scale_ != 1 ||
        !fits_in_place<S>(FieldView<const S>(x), layout, matrix_->column_basis(), stream_)) {
      if (!own_x_) own_x_.emplace(column_field_of(*matrix_));
      permute<S>(x, own_x_->view, scale_, stream_);
      x_ = own_x_->view;
    }
    return true;
  }

  /// What runs multiply by until one has not helped. A run goes on until its own recurrence meets
  /// the tolerance: a copy in 16 bits has left the true residual long before.
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
    T least_gradient = gradient_, least_residual = residual_;
    judge(0);
    while (!is_over_) {
      run(*by, *by_adjoint);
      add_to_history();
      begin();
      const bool helped = gradient_ <= least_gradient / 2 || residual_ <= least_residual / 2;
      if (!helped) {
        // A copy in floats may be what keeps x from being better.
        by = &*matrix_;
        by_adjoint = &*adjoint_;
      }
      fruitless = helped ? 0 : fruitless + 1;
      least_gradient = std::min(least_gradient, gradient_);
      least_residual = std::min(least_residual, residual_);
      judge(fruitless);
      if (!is_over_) ++report_.restarts;
    }
  }

  /// u, v and true norms from x itself: the start of a run, and the verdict on the one before.
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
  /// True if the sum of squares says how large the field is: they neither underflow nor overflow.
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
  /// As small as the rounding of x and b lets gradient or residual be, times `factor`.
  bool is_rounding(T gradient, T residual, T factor) const {
    const T size = factor * epsilon * (norm_of_b_ + matrix_norm_ * norm_of_x_);
    return gradient <= size * matrix_norm_ || residual <= size;
  }

  /// Whether x, whose true norms are known, ends the solve.
  void judge(int fruitless) {
    constexpr T some = 4, most = 64;
    if (leaves_range_ && !(residual_ <= static_cast<T>(options_.tolerance) * norm_of_b_)) {
      end(Status::out_of_range, std::isfinite(alpha_)
                                    ? "the squares of the operator's numbers underflow"
                                    : "the squares of the operator's numbers overflow");
    } else if (!std::isfinite(gradient_) || !std::isfinite(norm_of_x_)) {
      end(Status::not_finite, report_.iterations == 0
                                  ? "the residual of the guess is not finite, or too large"
                                  : "the iteration overflowed");
    } else if (gradient_ == 0 ||
               is_good(gradient_, residual_, static_cast<T>(options_.tolerance))) {
      end(Status::converged);
    } else if (fruitless > 0 && is_rounding(gradient_, residual_, fruitless > 1 ? most : some)) {
      end(Status::accuracy_limit, "x is as good as its precision lets it be");
    } else if (is_over_) {
      return;  // by a limit
    } else if (fruitless > 1) {
      end(Status::stagnated, "the true residual does not follow the recurrence");
    } else if (report_.iterations >= options_.max_iterations) {
      end(Status::iteration_limit);
    }
  }

  /// From `begin` until the recurrence says enough, or a limit does. `u` and `v` carry the factors
  /// beta and alpha, which the next products take away.
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
      // Nothing but rounding is left of a space that is exhausted.
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

  /// Relative to |A| |r| and |b|, as far as they are known.
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
    const double now = elapsed();
    const bool is_cancelled =
        options_.observer &&
        !options_.observer({{report_.iterations, relative_gradient(gradient, residual), now},
                            relative_residual(residual)});
    const device::LoopEnd wished = (*agreed_)(is_cancelled                 ? device::loop_cancelled
                                              : now >= options_.time_limit ? device::loop_time
                                                                           : device::loop_runs);
    if (wished == device::loop_cancelled) {
      end(Status::cancelled);
    } else if (report_.iterations >= options_.max_iterations) {
      end(Status::iteration_limit);
    } else if (wished == device::loop_time) {
      end(Status::time_limit);
    }
    return !is_over_;
  }

  /// Products, and passes over fields: one over rows, eleven over columns, seven more with damping.
  void count_bytes(const LinearOperator<S>& by, const LinearOperator<S>& by_adjoint) {
    const long long there = by.bytes_of_product(), back = by_adjoint.bytes_of_product();
    if (there == 0 || back == 0) return;
    constexpr auto scalar = static_cast<long long>(sizeof(S));
    const long long passes = low_ ? 18 : 11;
    bytes_ += there + back + scalar * (u_.view.scalars() + passes * v_.view.scalars());
  }

  /// Looks for numbers that were lost on the way to the caller's scale. x = 0 where it overflowed.
  void look_at_unscaled(const FieldView<S>& x) {
    const T residual = residual_, gradient = gradient_;
    permute<S>(x, x_, scale_, stream_);
    begin();
    if (residual_ == residual && gradient_ == gradient && std::isfinite(norm_of_x_)) return;
    const bool is_lost = !std::isfinite(residual_ + gradient_ + norm_of_x_);
    if (is_lost) {
      fill<S>(S(0), x_, stream_);
      permute<S>(x_, x, S(1), stream_);
      begin();
    }
    const bool was_solved = report_.solved();
    const bool is_solution = is_good(gradient_, residual_, static_cast<T>(options_.tolerance));
    if (is_lost || (was_solved && !is_solution)) {
      end(Status::out_of_range, "the solution is too large or too small for these numbers");
    }
  }

  void tell() {
    const T back = T(1) / static_cast<T>(scale_);
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
  FieldView<const S> b_;
  FieldView<S> x_;
  S scale_ = 1;
  LsmrRecurrence<T> recurrence_;
  T alpha_ = 0, beta_ = 0;
  T residual_ = 0, gradient_ = 0;  // of the last `begin`: true
  T matrix_norm_ = 0, norm_of_x_ = 0, norm_of_b_ = 0;
  bool is_over_ = false;
  bool leaves_range_ = false;  // the squares of A* r / |r| do, in the last `begin`
  long long bytes_ = 0;
  Clock::time_point start_;
  AgreedEnd* agreed_ = nullptr;  // of the solve that goes on
  LeastSquaresReport report_;
  LeastSquaresHistory history_, run_history_;  // the latter of the run that goes on
};

}  // namespace heddle::detail
