// The progress of a solve on standard error: a line in place, or a table.
#pragma once

#include <cstddef>
#include <functional>
#include <optional>

#include "convergence_table.hpp"
#include "heddle/runtime/any_least_squares.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "heddle/tools/progress.hpp"
#include "tuning/planning/method_choice.hpp"

namespace heddle::cli {

class SolveWatch {
 public:
  /// The line in place needs `progress`, which may be null and must outlive this.
  explicit SolveWatch(TerminalProgress* progress) : progress_(progress) {}

  /// Shows the table too; solvers then record their history.
  void show_table(double tolerance, report::ConvergenceNames names = {});

  /// Sets the observer, if anything is to be shown. This must outlive the solver.
  void listen(SolverOptions& settings);
  void listen(LeastSquaresOptions& settings);

  /// Called around each solve, as its first and last steps. During the solve, the first system is
  /// shown, or in a block the one with the largest residual; at the end, the one of the report.
  void begin(const AnySolver& solver, const MethodChoice& method, std::size_t systems);
  void end(const Report& report, std::size_t system);
  void begin(const AnyLeastSquares& solver);
  void end(const LeastSquaresReport& report);

 private:
  void see(const SolveProgress& now);
  void see(const LeastSquaresProgress& now);
  void show_in_place(const SolveProgress& now, const char* what);

  TerminalProgress* progress_;
  std::optional<report::ConvergenceTable> table_;
  const AnySolver* solver_ = nullptr;
  std::size_t systems_ = 0;  // number in the solve
  const AnyLeastSquares* least_squares_ = nullptr;
  const MethodInfo* method_ = nullptr;
};

}  // namespace heddle::cli
