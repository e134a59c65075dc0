#include "solve_watch.hpp"

#include <iostream>
#include <vector>

#include "readable.hpp"

namespace heddle::cli {

namespace {

/// The history of the values that the observer gets during a solve: those of the first system, or
/// in a block those of the system with the longest history and then the largest residual.
const std::vector<double>& history_of_progress(const AnySolver& solver, std::size_t systems) {
  std::size_t chosen = 0;
  for (std::size_t k = 1; !solver.has_krylov() && k < systems; ++k) {
    const std::vector<double>&best = solver.history(chosen), &other = solver.history(k);
    const bool has_more = other.size() != best.size() ? other.size() > best.size()
                                                      : !other.empty() && other[0] > best[0];
    if (has_more) chosen = k;
  }
  return solver.history(chosen);
}

}  // namespace

void SolveWatch::show_table(double tolerance, report::ConvergenceNames names) {
  // Writes whole lines, each visible at once: standard error may be a pipe.
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

void SolveWatch::begin(const AnySolver& solver, const MethodChoice& method, std::size_t systems) {
  solver_ = &solver;
  systems_ = systems;
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
       .second = report.residual,
       .last_second = history.residuals.empty() ? report.residual : history.residuals.back()},
      history.gradients);
}

void SolveWatch::see(const SolveProgress& now) {
  if (now.system != 0 || now.inner_iterations > 0) return;
  if (table_ && table_->see(now, history_of_progress(*solver_, systems_))) return;
  show_in_place(now, "residual");
}

void SolveWatch::see(const LeastSquaresProgress& now) {
  if (table_ && table_->see(now, least_squares_->history().gradients, now.residual)) return;
  show_in_place(now, "gradient");
}

void SolveWatch::show_in_place(const SolveProgress& now, const char* what) {
  if (progress_ != nullptr) progress_->report(-1, readable_iteration(now, what));
}

}  // namespace heddle::cli
