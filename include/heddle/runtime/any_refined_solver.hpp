// Refined solves of matrices whose entries are chosen at run time.
#pragma once

#include <memory>
#include <optional>
#include <span>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/runtime/any_solver.hpp"

namespace heddle {

class RefinedSolver;

/// A `RefinedSolver` whose matrix in floats is made of the one in doubles, on its pattern, and anew
/// of new values at the next solve: 4 bytes a component more, and what the plan's copy takes of
/// floats where that has 16 bits.
class HEDDLE_EXPORT AnyRefinedSolver {
 public:
  /// Preconditioners are made of both matrices. Throws `Error`: unsupported for a matrix in single
  /// precision, bad_plan where an entry is beyond the range of floats, as a later solve does of new
  /// values, and as `AnySolver` and `RefinedSolver` do.
  AnyRefinedSolver(const AnyOperator& matrix, const MethodInfo& method,
                   const ComposedChoice& preconditioner, const SolverOptions& options);
  /// The same around a solver of `matrix`, which has such a preconditioner.
  AnyRefinedSolver(const AnyOperator& matrix, const ComposedChoice& preconditioner,
                   std::shared_ptr<KrylovSolver<double>> wide);
  AnyRefinedSolver(AnyRefinedSolver&&) noexcept;
  AnyRefinedSolver& operator=(AnyRefinedSolver&&) noexcept;
  ~AnyRefinedSolver();

  /// As `RefinedSolver::solve`, also on fields of doubles.
  Report solve(const FieldView<const double>& b, const FieldView<double>& x);
  std::vector<Report> solve(std::span<const FieldView<const double>> b,
                            std::span<const FieldView<double>> x);
  std::vector<Report> solve(std::span<const AnyField> b, std::span<AnyField> x);

  const std::vector<double>& history(std::size_t system = 0) const;
  void set_null_space(const std::vector<FieldView<const double>>& vectors);
  /// Bytes of the values in floats, and of their copy in 16 bits.
  long long matrix_memory() const;
  /// As `AnySolver::multigrid`, of the one in double.
  std::optional<MultigridReport> multigrid() const {
    return own_ ? own_->multigrid() : std::nullopt;
  }

 private:
  AnyRefinedSolver(const AnyOperator& matrix, const ComposedChoice& preconditioner,
                   std::shared_ptr<AnySolver> own);
  void refresh();

  detail::SlicedOperator<double> matrix_;
  detail::SlicedOperator<float> in_floats_;
  long long generation_ = -1;  // of the values in floats
  std::shared_ptr<AnySolver> own_;
  std::unique_ptr<RefinedSolver> solver_;
};

}  // namespace heddle
