// The state of one solve: what a method's iteration reads, and the decisions when it ends.
#pragma once

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>

#include "../fields/random_factor.hpp"
#include "accuracy_limit.hpp"
#include "copy_gain.hpp"
#include "heddle/krylov_solver.hpp"
#include "run.hpp"

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

  /// |b - A x|^2; r holds b - A x afterwards.
  sum true_residual(const FieldView<S>& x) {
    sum squared = solver_.matrix_.residual(b_, x, r(), solver_.reduction_, solver_.stream_);
    if (!solver_.null_space_.vectors.empty()) {
      solver_.project(r());
      squared = real_dot<S>(r(), r(), solver_.reduction_, solver_.stream_);
    }
    return squared;
  }

  /// Sets the norms to reach and takes the residual of the guess; false if there is nothing to do.
  bool begin(sum squared_b, sum unscale) {
    start_ = Clock::now();
    unscale_ = unscale;
    squared_norm_ = first_squared_ = true_residual(x_);
    const sum initial = std::sqrt(squared_norm_);
    const sum baseline =
        solver_.options_.baseline == Baseline::initial_residual ? initial : std::sqrt(squared_b);
    baseline_ = baseline;
    limit_.begin(solver_.options_.checks ? sum(std::numeric_limits<S>::epsilon()) : sum(0),
                 std::sqrt(squared_b));
    target_ = std::max<sum>(static_cast<sum>(tolerance()) * baseline,
                            static_cast<sum>(solver_.options_.absolute_tolerance) / unscale);
    true_norm_ = initial;
    record();
    if (!std::isfinite(initial)) {
      end(Status::not_finite, "the residual of the guess is not finite, or too large");
      return false;
    }
    if (initial <= target_) return end(Status::converged, "");
    kept_squared_ = squared_norm_;
    set_verified();
    aim();
    return true;
  }

  sum squared_norm() const { return squared_norm_; }
  bool ended() const { return ended_; }

  /// Whether a run of the recurrence is over, as the recurrence says.
  bool reached(sum squared_norm) const { return std::sqrt(squared_norm) <= aim_; }

  /// After an iteration that left x with a recurrence residual of this norm. False: stop. When the
  /// recurrence says that its run is over, the true residual decides; if it denies, r and
  /// `squared_norm()` hold it, `restarted` is true, and the method begins again from there.
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
    } else if (squared_norm > first_squared_ * most_growth) {
      restarted = true;
      if (!verify(Status::stagnated, "the residual grew until rounding left no digit of x")) {
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

  /// What a run on a device may take; `observe` speaks of the iterations of that run.
  cuda::RunLimits run_limits() const {
    cuda::RunLimits limits;
    limits.target = static_cast<double>(aim_ * aim_);
    limits.growth = static_cast<double>(first_squared_ * most_growth);
    limits.iterations = solver_.options_.max_iterations - report_.iterations;
    limits.seconds = std::max(0.0, solver_.options_.time_limit - elapsed());
    limits.unwatched = solver_.unwatched_iterations(report_.bytes_per_iteration);
    if (solver_.options_.observer) {
      limits.observe = [this](long long iteration, double squared_norm) {
        return solver_.options_.observer(
            {report_.iterations + iteration, relative(static_cast<sum>(squared_norm)), elapsed()});
      };
    }
    return limits;
  }

  /// After a run on a device that left x and the residual r of its recurrence. False: stop. True:
  /// the method begins again from r and `squared_norm()`, or deals with how the run ended.
  bool take_run(const cuda::RunResult& run) {
    for (const double squared_norm : run.history) {
      squared_norm_ = static_cast<sum>(squared_norm);
      record();
    }
    report_.iterations += run.iterations;
    if (run.iterations > 0) squared_norm_ = static_cast<sum>(run.squared_norm);
    switch (run.end) {
      case device::loop_reached:
        if (!verify(Status::stagnated, "the true residual does not follow the recurrence")) {
          return false;
        }
        break;
      case device::loop_grew:
        if (!verify(Status::stagnated, "the residual grew until rounding left no digit of x")) {
          return false;
        }
        break;
      case device::loop_not_finite:
        return end(Status::not_finite, "the iteration overflowed");
      case device::loop_time:
        return end(Status::time_limit, "");
      case device::loop_cancelled:
        return end(Status::cancelled, "");
      default:
        break;
    }
    return report_.iterations < solver_.options_.max_iterations || end(Status::iteration_limit, "");
  }

  /// The recurrence cannot go on: judge the best iterate by its true residual, and begin again
  /// from there while that helps. False: the solve has ended, with `otherwise` unless x turns out
  /// converged, or as good as it can be.
  bool verify(Status otherwise, std::string_view why) { return judge(otherwise, why, true); }

  /// After the method has returned: true if it failed on the narrower copy of the matrix, which
  /// says little about the matrix itself.
  bool wants_matrix() const { return failed_on_copy_; }

  /// On the matrix itself, from the best iterate; false if there is nothing left to do.
  bool begin_on_matrix() {
    ended_ = failed_on_copy_ = false;
    fruitless_ = -1;  // no restart of the recurrence that is to run now
    left_copy_ = true;
    report_.backward_error = std::numeric_limits<double>::quiet_NaN();
    return judge(Status::stagnated, "", false) &&
           (report_.iterations < solver_.options_.max_iterations ||
            end(Status::iteration_limit, ""));
  }

  bool end(Status status, std::string_view detail) {
    report_.status = status;
    report_.detail = detail;
    ended_ = true;
    failed_on_copy_ = on_copy() && (status == Status::stagnated || status == Status::breakdown ||
                                    status == Status::indefinite || status == Status::not_finite);
    return false;
  }

  /// Leaves the best iterate in x, and the report's norms.
  void finish() {
    const sum norm = report_.status == Status::converged ? true_norm_ : std::sqrt(take_best());
    // A run on a copy aims below the target: where something else ended it, x may have arrived.
    const bool stopped = report_.status == Status::iteration_limit ||
                         report_.status == Status::time_limit ||
                         report_.status == Status::cancelled;
    if (on_copy() && stopped && norm <= target_) report_.status = Status::converged;
    if (left_copy_ && report_.detail.empty()) {
      report_.detail =
          "the copy in float did not suffice, the last iterations read the matrix itself";
    }
    tell(norm);
    report_.iterate_seconds = elapsed();
  }

  /// After `finish`, of an x that was divided by the scale, and multiplied again: what was lost on
  /// the way. False: all of it.
  bool finish_unscaled() {
    const sum before = report_norm_, norm = std::sqrt(true_residual(x_));
    if (!std::isfinite(before) || norm == before) return true;
    report_.backward_error = std::numeric_limits<double>::quiet_NaN();
    const bool is_finite = std::isfinite(norm);
    if (!is_finite || (report_.solved() && !(norm <= target_))) {
      report_.status = Status::out_of_range;
      report_.detail = "the solution is too large or too small for these numbers";
    }
    if (is_finite) tell(norm);
    return is_finite;
  }

 private:
  bool judge(Status otherwise, std::string_view why, bool looks_at_rounding) {
    squared_norm_ = first_squared_ = take_best();
    if (squared_norm_ < verified_squared_) set_verified();
    const sum norm = std::sqrt(squared_norm_);
    if (!std::isfinite(norm)) return end(Status::not_finite, "the residual is not finite");
    if (norm <= target_) {
      true_norm_ = norm;
      return end(Status::converged, "");
    }
    fruitless_ = norm <= true_norm_ / 2 ? 0 : fruitless_ + 1;
    bool is_reached = false;
    if (looks_at_rounding && solver_.options_.checks) {
      look_at_rounding(r());
      true_residual(x_);
      report_.backward_error = static_cast<double>(limit_.backward_error(norm));
      is_reached = limit_.is_reached(norm, target_, fruitless_, !on_copy());
    }
    const bool is_over =
        fruitless_ >= 2 || (on_copy() && CopyGain<sum>::is_worthless(norm, aim_, true_norm_));
    if (is_reached || is_over) {
      true_norm_ = std::min(norm, true_norm_);
      return is_reached ? end(Status::accuracy_limit, "x is as good as its precision lets it be")
                        : end(otherwise, why);
    }
    report_.backward_error = std::numeric_limits<double>::quiet_NaN();  // x will be another
    gain_.learn(norm, true_norm_);
    true_norm_ = std::min(norm, true_norm_);
    ++report_.restarts;
    aim();
    return true;
  }

  /// What rounding leaves to gain on x; the kept iterate and `image` are scratch.
  void look_at_rounding(const FieldView<S>& image) {
    constexpr unsigned long long seed = 1;
    copy<S>(x_, solver_.kept_, solver_.stream_);
    randomize<S>(solver_.kept_, seed, solver_.stream_);
    solver_.matrix_.apply(S(1), solver_.kept_, S(0), image, solver_.stream_);
    limit_.learn(real_dot<S>(image, image, solver_.reduction_, solver_.stream_),
                 sum(mean_square_of_factors));
  }

  /// The same while a run goes on, at tenfold drops that are far apart: the recurrence may leave
  /// the truth behind long before it reaches the target. A product in a hundred.
  void look_ahead() {
    constexpr long long few = 100;
    const FieldView<S> spare = solver_.spare();
    if (!solver_.options_.checks || on_copy() || spare.data == nullptr) return;
    if (report_.iterations < looked_at_ + few) return;
    looked_at_ = report_.iterations;
    look_at_rounding(spare);
    aim();
  }

  void tell(sum norm) {
    report_norm_ = norm;
    report_.residual_norm = static_cast<double>(norm * unscale_);
    report_.baseline_norm = static_cast<double>(baseline_ * unscale_);
    report_.target_norm = static_cast<double>(target_ * unscale_);
    report_.residual = static_cast<double>(baseline_ > 0 ? norm / baseline_ : norm);
  }

  bool on_copy() const { return solver_.iterated_ != &solver_.matrix_; }
  void aim() {
    const sum goal = std::max(target_, limit_.least());
    aim_ = on_copy() ? gain_.aim(goal, std::sqrt(squared_norm_)) : goal;
  }

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
    if (!(squared_norm * tenfold <= kept_squared_)) return;
    look_ahead();
    copy<S>(x_, solver_.kept_, solver_.stream_);
    kept_squared_ = squared_norm;
    has_kept_ = true;
  }
  void set_verified() {
    copy<S>(x_, solver_.verified_, solver_.stream_);
    verified_squared_ = squared_norm_;
  }
  /// |b - A x|^2, after x became the kept or the verified iterate where that has the smaller true
  /// residual: the recurrence is no judge, since it drifts from the truth as x grows. r holds the
  /// residual.
  sum take_best() {
    sum squared = true_residual(x_);
    const auto take = [&](const FieldView<S>& iterate) {
      copy<S>(iterate, x_, solver_.stream_);
      squared = true_residual(x_);
    };
    if (has_kept_ && !(squared <= kept_squared_)) {
      if (squared <= true_residual(solver_.kept_)) {
        squared = true_residual(x_);
      } else {
        take(solver_.kept_);
      }
    }
    if (std::isfinite(verified_squared_) && !(squared <= verified_squared_)) {
      take(solver_.verified_);
    }
    kept_squared_ = squared;
    has_kept_ = false;
    return squared;
  }

  /// Rounding errors of x are those of its largest residual so far: beyond this growth (of the
  /// square) they exceed the residual that the recurrence began from.
  static constexpr sum most_growth =
      1 / (sum(std::numeric_limits<S>::epsilon()) * sum(std::numeric_limits<S>::epsilon()));

  KrylovSolver<S>& solver_;
  FieldView<const S> b_;
  FieldView<S> x_;
  Report& report_;
  typename Clock::time_point start_;
  sum unscale_ = 1;
  sum squared_norm_ = 0;
  sum baseline_ = 0;
  sum target_ = 0;
  sum aim_ = 0;         // the norm at which a run of the recurrence is over
  CopyGain<sum> gain_;  // of runs on a copy
  AccuracyLimit<sum> limit_;
  sum true_norm_ = 0;
  sum first_squared_ = 0;                                        // where the recurrence began, last
  sum kept_squared_ = 0;                                         // what to drop below tenfold
  sum verified_squared_ = std::numeric_limits<sum>::infinity();  // none yet
  bool has_kept_ = false;
  bool ended_ = false;
  bool failed_on_copy_ = false;
  bool left_copy_ = false;
  int fruitless_ = 0;
  sum report_norm_ = 0;
  long long looked_at_ = 0;  // iterations, when rounding was
};

}  // namespace heddle::detail
