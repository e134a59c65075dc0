// The state of one solve: what a method's iteration reads, and the decisions when it ends.
#pragma once

#include <chrono>
#include <cmath>

#include "heddle/krylov_solver.hpp"

namespace heddle::detail {

template <class S>
class SolveControl {
 public:
  using sum = sum_t<S>;
  using Clock = std::chrono::steady_clock;

  SolveControl(KrylovSolver<S>& solver, FieldView<const S> b, FieldView<S> x, Report& report)
      : solver_(solver), b_(std::move(b)), x_(std::move(x)), report_(report) {}

  const FieldView<S>& x() const { return x_; }
  const FieldView<S>& r() const { return solver_.residual_; }

  /// |r|^2 of the true residual, computed into r.
  sum true_residual() {
    sum squared = solver_.matrix_.residual(b_, x_, r(), solver_.reduction_, solver_.stream_);
    if (!solver_.null_space_.empty()) {
      solver_.project(r());
      squared = real_dot<S>(r(), r(), solver_.reduction_, solver_.stream_);
    }
    return squared;
  }

  /// Sets the norms to reach and takes the residual of the guess; false if there is nothing to do.
  bool begin(sum squared_b, sum unscale) {
    start_ = Clock::now();
    unscale_ = unscale;
    squared_norm_ = true_residual();
    const sum initial = std::sqrt(squared_norm_);
    const sum baseline =
        solver_.options_.baseline == Baseline::initial_residual ? initial : std::sqrt(squared_b);
    baseline_ = baseline;
    target_ = std::max<sum>(static_cast<sum>(tolerance()) * baseline,
                            static_cast<sum>(solver_.options_.absolute_tolerance) / unscale);
    true_norm_ = initial;
    record();
    if (!std::isfinite(initial)) {
      end(Status::not_finite, "the residual of the guess is not finite");
      return false;
    }
    if (initial <= target_) end(Status::converged, "");
    return !ended_;
  }

  sum squared_norm() const { return squared_norm_; }
  bool ended() const { return ended_; }

  bool reached(sum squared_norm) const { return std::sqrt(squared_norm) <= target_; }

  /// After an iteration that left x with a recurrence residual of this norm. False: stop. When the
  /// recurrence says converged, the true residual decides; if it denies, r and `squared_norm()`
  /// hold it, `restarted` is true, and the method begins again from there.
  bool advance(sum squared_norm, bool& restarted) {
    restarted = false;
    squared_norm_ = squared_norm;
    ++report_.iterations;
    record();
    if (!std::isfinite(squared_norm)) return end(Status::not_finite, "the iteration overflowed");
    if (reached(squared_norm)) {
      restarted = true;
      if (!verify(Status::stagnated, "the true residual does not follow the recurrence")) {
        return false;
      }
    }
    keep(squared_norm_);
    if (report_.iterations >= solver_.options_.max_iterations)
      return end(Status::iteration_limit, "");
    const double seconds = elapsed();
    if (seconds >= solver_.options_.time_limit) return end(Status::time_limit, "");
    if (solver_.options_.observer &&
        !solver_.options_.observer({report_.iterations, relative(squared_norm_), seconds})) {
      return end(Status::cancelled, "");
    }
    return true;
  }

  /// The recurrence cannot go on: judge x by its true residual, and begin again from there while
  /// that helps. False: the solve has ended, with `otherwise` unless x turns out converged.
  bool verify(Status otherwise, std::string_view why) {
    squared_norm_ = true_residual();
    const sum norm = std::sqrt(squared_norm_);
    if (!std::isfinite(norm)) return end(Status::not_finite, "the residual is not finite");
    if (norm <= target_) {
      true_norm_ = norm;
      return end(Status::converged, "");
    }
    fruitless_ = norm <= true_norm_ / 2 ? 0 : fruitless_ + 1;
    true_norm_ = std::min(norm, true_norm_);
    if (fruitless_ >= 2) return end(otherwise, why);
    ++report_.restarts;
    return true;
  }

  bool end(Status status, std::string_view detail) {
    report_.status = status;
    report_.detail = detail;
    ended_ = true;
    return false;
  }

  /// The better of the last and the kept iterate, judged by true residuals, and the report's norms.
  void finish() {
    sum norm = true_norm_;
    if (report_.status != Status::converged) {
      norm = std::sqrt(true_residual());
      if (kept_norm_ < norm || !std::isfinite(norm)) {
        if (has_kept_) {
          copy<S>(solver_.kept_, x_, solver_.stream_);
          norm = std::sqrt(true_residual());
        }
      }
    }
    report_.residual_norm = static_cast<double>(norm * unscale_);
    report_.baseline_norm = static_cast<double>(baseline_ * unscale_);
    report_.target_norm = static_cast<double>(target_ * unscale_);
    report_.residual = static_cast<double>(baseline_ > 0 ? norm / baseline_ : norm);
    report_.iterate_seconds = elapsed();
  }

 private:
  double tolerance() const {
    if (solver_.options_.tolerance != SolverOptions::by_precision)
      return solver_.options_.tolerance;
    return std::is_same_v<S, float> ? 1e-5 : 1e-10;
  }
  double elapsed() const { return std::chrono::duration<double>(Clock::now() - start_).count(); }
  double relative(sum squared_norm) const {
    const sum norm = std::sqrt(squared_norm);
    return static_cast<double>(baseline_ > 0 ? norm / baseline_ : norm);
  }
  void record() {
    if (solver_.options_.record_history) solver_.history_.push_back(relative(squared_norm_));
  }
  /// A copy at every tenfold drop: few, and never far from the best.
  void keep(sum squared_norm) {
    constexpr sum tenfold = 100;
    const sum before = has_kept_ ? kept_squared_ : first_squared_;
    if (first_squared_ < 0) first_squared_ = squared_norm;
    if (before < 0 || squared_norm > before / tenfold) return;
    copy<S>(x_, solver_.kept_, solver_.stream_);
    has_kept_ = true;
    kept_squared_ = squared_norm;
    kept_norm_ = std::sqrt(squared_norm);
  }

  KrylovSolver<S>& solver_;
  FieldView<const S> b_;
  FieldView<S> x_;
  Report& report_;
  typename Clock::time_point start_;
  sum unscale_ = 1;
  sum squared_norm_ = 0;
  sum baseline_ = 0;
  sum target_ = 0;
  sum true_norm_ = 0;
  sum first_squared_ = -1;
  sum kept_squared_ = 0;
  sum kept_norm_ = std::numeric_limits<sum>::infinity();
  bool has_kept_ = false;
  bool ended_ = false;
  int fruitless_ = 0;
};

}  // namespace heddle::detail
