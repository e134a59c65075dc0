// Block conjugate gradients with matrices whose entries are chosen at run time.
#pragma once

#include <functional>
#include <memory>
#include <optional>
#include <span>
#include <variant>
#include <vector>

#include "heddle/block_conjugate_gradient.hpp"
#include "heddle/export.hpp"
#include "heddle/runtime/any_solver.hpp"

namespace heddle {

class HEDDLE_EXPORT AnyBlockConjugateGradient {
 public:
  static constexpr int most_columns = BlockConjugateGradient<double>::most_columns;

  /// Throws `Error` as `BlockConjugateGradient` and `AnySolver` do; `shift` is as there.
  AnyBlockConjugateGradient(const AnyOperator& matrix, const ComposedChoice& preconditioner,
                            const SolverOptions& options, double shift = 0);
  /// The same of any operator; `entries` are as `AnySolver` takes them.
  AnyBlockConjugateGradient(const AnyLinearOperator& matrix, const AnyOperator& entries,
                            const ComposedChoice& preconditioner, const SolverOptions& options,
                            double shift = 0);

  /// As `BlockConjugateGradient::solve`, on fields of the operator's precision.
  std::vector<Report> solve(std::span<const AnyField> b, std::span<AnyField> x);
  const std::vector<double>& history(std::size_t system = 0) const;
  long long memory() const;
  /// As `AnySolver::multigrid`.
  std::optional<MultigridReport> multigrid() const {
    return multigrid_ ? std::optional(multigrid_()) : std::nullopt;
  }

  /// The solver itself, for fields in any order and memory. Throws `Error` (size_mismatch) unless S
  /// is the operator's scalar.
  template <class S>
  BlockConjugateGradient<S>& solver() {
    return *detail::of_precision<std::unique_ptr<BlockConjugateGradient<S>>>(solver_);
  }

 private:
  std::function<MultigridReport()> multigrid_;
  std::variant<std::unique_ptr<BlockConjugateGradient<float>>,
               std::unique_ptr<BlockConjugateGradient<double>>>
      solver_;
};

}  // namespace heddle
