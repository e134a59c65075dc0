#include "solve_watch.hpp"

#include <cstdio>
#include <iostream>

namespace heddle::cli {

void SolveWatch::show_table(double tolerance) {
  // A line at a time, whole, and seen at once: standard error may be a pipe.
  table_.emplace(tolerance, [this](const std::string& line) {
    if (progress_ != nullptr) progress_->erase();
    std::cerr << line << std::flush;
  });
}

void SolveWatch::listen(SolverOptions& settings) {
  if (table_) settings.record_history = true;
  if (progress_ == nullptr && !table_) return;
  settings.observer = [this](const SolveProgress& now) {
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

void SolveWatch::see(const SolveProgress& now) {
  if (now.system != 0) return;
  if (table_ && table_->see(now, solver_->history_of_progress())) return;
  if (progress_ == nullptr) return;
  char text[64];
  std::snprintf(text, sizeof text, "iteration %lld, residual %.1e", now.iteration,
                now.relative_residual);
  progress_->report(-1, text);
}

}  // namespace heddle::cli
