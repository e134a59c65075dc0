#include "heddle/refined_solver.hpp"

#include <algorithm>
#include <chrono>
#include <cmath>
#include <limits>
#include <string>
#include <type_traits>
#include <utility>

#include "heddle/error.hpp"
#include "heddle/vector_operations.hpp"

namespace heddle {

namespace {

/// Of a run. A longer one forgets less of the spectrum, and ends where floats do.
constexpr double usual_gain = 1e-2;

/// Gives a solver its options back.
template <class S>
class KeptOptions {
 public:
  explicit KeptOptions(KrylovSolver<S>& solver) : solver_(solver), options_(solver.options()) {}
  KeptOptions(const KeptOptions&) = delete;
  KeptOptions& operator=(const KeptOptions&) = delete;
  ~KeptOptions() { solver_.set_options(options_); }

  const SolverOptions& operator*() const { return options_; }
  const SolverOptions* operator->() const { return &options_; }

 private:
  KrylovSolver<S>& solver_;
  SolverOptions options_;
};

template <class T>
FieldView<T> users_view(std::vector<T>& scalars, const LinearOperator<double>& A) {
  return {scalars.data(), A.rows(), A.row_components()};
}

double seconds_since(std::chrono::steady_clock::time_point begin) {
  return std::chrono::duration<double>(std::chrono::steady_clock::now() - begin).count();
}

}  // namespace

RefinedSolver::RefinedSolver(std::shared_ptr<KrylovSolver<float>> narrow,
                             std::shared_ptr<KrylovSolver<double>> wide)
    : narrow_(std::move(narrow)), wide_(std::move(wide)) {
  if (!narrow_ || !wide_) throw Error(ErrorKind::usage, "a null pointer to a solver");
  const auto& F = narrow_->matrix();
  const auto& A = wide_->matrix();
  if (F.rows() != A.rows() || F.row_components() != A.row_components()) {
    throw Error(ErrorKind::size_mismatch, "a matrix of " + std::to_string(F.rows()) + " rows of " +
                                              std::to_string(F.row_components()) +
                                              " floats refines one of " + std::to_string(A.rows()) +
                                              " rows of " + std::to_string(A.row_components()) +
                                              " doubles");
  }
  if (A.device().stream().share != nullptr || F.device().stream().share != nullptr) {
    throw Error(ErrorKind::unsupported, "ranks refine no solves over floats");
  }
  const auto scalars =
      static_cast<std::size_t>(A.rows()) * static_cast<std::size_t>(A.row_components());
  best_.resize(scalars);
  scratch_.resize(scalars);
  right_hand_side_.resize(scalars);
  correction_.resize(scalars);
}

Report RefinedSolver::run(double norm, const SolverOptions& options, const FieldView<double>& x) {
  const LinearOperator<double>& A = wide_->matrix();
  const Stream& stream = A.device().stream();
  const FieldView<double> scratch = users_view(scratch_, A);
  permute<double>(wide_->residual(), scratch, 1, stream);
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    right_hand_side_[i] = static_cast<float>(scratch_[i] / norm);  // fits floats, whatever its size
  }
  std::ranges::fill(correction_, 0.0f);
  narrow_->set_options(options);
  FieldView<float> correction = users_view(correction_, A);
  const Report report = narrow_->solve(users_view(right_hand_side_, A), correction);
  permute<double>(x, users_view(best_, A), 1, stream);
  if (!(report.residual < 1)) return report;
  for (std::size_t i = 0; i < scratch_.size(); ++i) {
    scratch_[i] = best_[i] + norm * static_cast<double>(correction_[i]);
  }
  permute<double>(scratch, x, 1, stream);
  return report;
}

Report RefinedSolver::solve(const FieldView<const double>& b, const FieldView<double>& x) {
  const auto begin = std::chrono::steady_clock::now();
  const KeptOptions wide(*wide_);
  const KeptOptions narrow(*narrow_);
  SolverOptions of_residual = *wide;
  of_residual.max_iterations = 0;
  of_residual.observer = nullptr;
  Report best;
  best.residual_norm = std::numeric_limits<double>::infinity();
  long long iterations = 0;
  double baseline_norm = 0;        // of the whole solve
  double wide_baseline = 0;        // of the solver over doubles since
  Status end = Status::converged;  // of the last run
  // The numbers of the whole solve, for a run that begins with a residual of `scale`.
  const auto observer_of = [&](double scale) {
    const auto& whole = wide->observer;
    using Observer = std::remove_cvref_t<decltype(whole)>;
    if (!whole) return Observer();
    return Observer([&whole, begin, done = iterations, scale](const SolveProgress& run) {
      SolveProgress progress = run;
      progress.iteration += done;
      progress.relative_residual *= scale;
      progress.seconds = seconds_since(begin);
      return whole(progress);
    });
  };
  const auto told = [&](Report report) {
    report.baseline_norm = baseline_norm;
    if (baseline_norm > 0) report.residual = report.residual_norm / baseline_norm;
    report.iterate_seconds = seconds_since(begin);
    report.bytes_per_iteration = 0;
    return report;
  };
  for (int runs = 0;; ++runs) {
    wide_->set_options(of_residual);
    Report now = wide_->solve(b, x);
    wide_baseline = now.baseline_norm;
    if (runs == 0) baseline_norm = now.baseline_norm;
    if (runs == 0 && wide->baseline == Baseline::initial_residual) {
      of_residual.baseline = Baseline::right_hand_side;
      of_residual.tolerance = 0;
      of_residual.absolute_tolerance = now.target_norm;
    }
    now.iterations = iterations;
    now.restarts = runs;
    if (runs > 0) now.stored = "float";
    if (now.status != Status::iteration_limit) return told(now);
    const bool gains = now.residual_norm <= 0.5 * best.residual_norm;
    if (now.residual_norm < best.residual_norm) {
      best = now;
    } else if (runs > 0) {
      permute<double>(users_view(best_, wide_->matrix()), x, 1, wide_->matrix().device().stream());
    }
    const double seconds = wide->time_limit - seconds_since(begin);
    best.iterations = iterations;
    best.restarts = runs;
    best.status = end == Status::cancelled || end == Status::time_limit ? end
                  : seconds <= 0                                        ? Status::time_limit
                                                                        : Status::iteration_limit;
    if (best.status != Status::iteration_limit || iterations >= wide->max_iterations)
      return told(best);
    if (!gains || !std::isfinite(now.residual_norm)) break;
    SolverOptions of_run = *narrow;
    of_run.baseline = Baseline::right_hand_side;
    if (of_run.tolerance < 0) of_run.tolerance = usual_gain;
    of_run.tolerance = std::max(of_run.tolerance, 0.5 * best.target_norm / best.residual_norm);
    of_run.max_iterations = std::min(of_run.max_iterations, wide->max_iterations - iterations);
    of_run.time_limit = seconds;
    of_run.observer = observer_of(baseline_norm > 0 ? best.residual_norm / baseline_norm : 1);
    const Report report = run(best.residual_norm, of_run, x);
    iterations += report.iterations;
    end = report.status;
  }
  of_residual.max_iterations = wide->max_iterations - iterations;
  of_residual.time_limit = std::max(0.0, wide->time_limit - seconds_since(begin));
  of_residual.observer = observer_of(baseline_norm > 0 ? wide_baseline / baseline_norm : 1);
  wide_->set_options(of_residual);
  Report report = wide_->solve(b, x);
  if (report.detail.empty()) {
    report.detail = "floats came no further, the last iterations ran in double";
  }
  report.iterations += iterations;
  report.restarts += best.restarts;
  return told(report);
}

}  // namespace heddle
