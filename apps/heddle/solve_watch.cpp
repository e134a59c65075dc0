#include "solve_watch.hpp"

#include <cstdio>
#include <iostream>

namespace heddle::cli {

void SolveWatch::show_table(double tolerance, report::ConvergenceNames names) {
  // A line at a time, whole, and seen at once: standard error may be a pipe.
  const auto write = [this](const std::string& line) {
    if (progress_ != nullptr) progress_->erase();
    std::cerr << line << std::flush;
  };
  table_.emplace(tolerance, write, std::move(names));
}

void SolveWatch::listen(SolverOptions& settings) {
  if (table_) settings.record_history = true;
  if (progress_ == nullptr && !table_) return;
  settings.observer = [this](const SolveProgress& now) {
    see(now);
    return true;
  };
}

void SolveWatch::listen(LeastSquaresOptions& settings) {
  if (table_) settings.record_history = true;
  if (progress_ == nullptr && !table_) return;
  settings.observer = [this](const LeastSquaresProgress& now) {
    see(now);
    return true;
  };
}

void SolveWatch::begin(const SystemSolver& solver, const MethodChoice& method) {
  solver_ = &solver;
  if (!table_) return;
  std::string words;
  if (method_ == method.method) {
    words = "again";
  } else if (method_ != nullptr) {
    words = std::string(method.method->name) + ": " + method.reason;
  }
  method_ = method.method;
  table_->begin(words);
}

void SolveWatch::end(const Report& report, std::size_t system) {
  if (table_) table_->end(report, solver_->history(system));
}

void SolveWatch::begin(const AnyLeastSquares& solver) {
  const bool is_first = least_squares_ == nullptr;
  least_squares_ = &solver;
  if (table_) table_->begin(is_first ? "" : "again");
}

void SolveWatch::end(const LeastSquaresReport& report) {
  if (!table_) return;
  const LeastSquaresHistory& history = least_squares_->history();
  table_->end(
      {.status = report.status,
       .detail = report.detail,
       .iterations = report.iterations,
       .seconds = report.iterate_seconds,
       .value = report.gradient,
       .beside = report.residual,
       .last_beside = history.residuals.empty() ? report.residual : history.residuals.back()},
      history.gradients);
}

void SolveWatch::see(const SolveProgress& now) {
  if (now.system != 0 || now.inner_iterations > 0) return;
  if (table_ && table_->see(now, solver_->history_of_progress())) return;
  show_in_place(now, "residual");
}

void SolveWatch::see(const LeastSquaresProgress& now) {
  if (table_ && table_->see(now, least_squares_->history().gradients, now.residual)) return;
  show_in_place(now, "gradient");
}

void SolveWatch::show_in_place(const SolveProgress& now, const char* what) {
  if (progress_ == nullptr) return;
  char text[64];
  std::snprintf(text, sizeof text, "iteration %lld, %s %.1e", now.iteration, what,
                now.relative_residual);
  progress_->report(-1, text);
}

}  // namespace heddle::cli
