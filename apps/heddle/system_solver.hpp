// Solves A x = b by the method that was chosen, one of the table, over fields in double or single
// precision, or block conjugate gradient.
#pragma once

#include <variant>
#include <vector>

#include "heddle/runtime/any_block_conjugate_gradient.hpp"
#include "heddle/runtime/any_refined_solver.hpp"
#include "heddle/runtime/any_solver.hpp"
#include "storage_option.hpp"
#include "tuning/planning/method_choice.hpp"

namespace heddle::cli {

class SystemSolver {
 public:
  SystemSolver(const AnyOperator& matrix, const MethodInfo& method,
               const ComposedChoice& preconditioner, const SolverOptions& options, double shift,
               bool fields_in_single = false)
      : solver_(make(matrix, method, preconditioner, options, shift, fields_in_single)) {}
  SystemSolver(const StoredTree& tree, const MethodInfo& method,
               const ComposedChoice& preconditioner, const SolverOptions& options, double shift)
      : solver_(make(tree, method, preconditioner, options, shift)) {}

  std::vector<Report> solve(std::span<const AnyField> b, std::span<AnyField> x) {
    systems_ = b.size();
    return std::visit([&](auto& solver) { return solver.solve(b, x); }, solver_);
  }
  const std::vector<double>& history(std::size_t system) const {
    return std::visit([&](const auto& solver) -> const auto& { return solver.history(system); },
                      solver_);
  }
  /// Of the multigrid in the preconditioner; none without one.
  std::optional<MultigridReport> multigrid() const {
    return std::visit([](const auto& solver) { return solver.multigrid(); }, solver_);
  }
  /// Of the matrix in floats beside the operator's own; 0 without one.
  long long narrow_memory() const {
    const auto* const refined = std::get_if<AnyRefinedSolver>(&solver_);
    return refined != nullptr ? refined->matrix_memory() : 0;
  }
  /// During a solve, of what the observer is told: of the first system, or in a block of the one
  /// that has most of it, and the largest residual.
  const std::vector<double>& history_of_progress() const;

 private:
  using Solver = std::variant<AnySolver, AnyBlockConjugateGradient, AnyRefinedSolver>;

  static Solver make(const AnyOperator& matrix, const MethodInfo& method,
                     const ComposedChoice& preconditioner, const SolverOptions& options,
                     double shift, bool fields_in_single);
  static Solver make(const StoredTree& tree, const MethodInfo& method,
                     const ComposedChoice& preconditioner, const SolverOptions& options,
                     double shift);

  Solver solver_;
  std::size_t systems_ = 0;
};

}  // namespace heddle::cli
