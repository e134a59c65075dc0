// The interface of every solver of A x = b, whatever its method.
#pragma once

#include <cstddef>
#include <span>
#include <vector>

#include "heddle/export.hpp"
#include "heddle/field.hpp"
#include "heddle/report.hpp"

namespace heddle {

/// A `KrylovSolver`, a `BlockConjugateGradient` or a `RefinedSolver`.
template <class S>
class HEDDLE_EXPORT SystemSolver {
 public:
  virtual ~SystemSolver() = default;

  /// Solves A x = b from the guess in x.
  virtual Report solve(const FieldView<const S>& b, const FieldView<S>& x) = 0;
  /// Solves several systems with this matrix, each from its own guess. No x shares memory with
  /// another field.
  virtual std::vector<Report> solve(std::span<const FieldView<const S>> b,
                                    std::span<const FieldView<S>> x) = 0;

  /// Relative residuals of a system of the last solve, from iteration 0, if the options ask for
  /// them. During a solve, the ones that are known so far.
  virtual const std::vector<double>& history(std::size_t system = 0) const = 0;

  /// Vectors v with A v = 0 and v* A = 0: systems are solved in the space orthogonal to them.
  /// Throws `Error` (unsupported) for a solver without such a space.
  virtual void set_null_space(const std::vector<FieldView<const S>>& vectors) = 0;

  virtual const SolverOptions& options() const = 0;
  /// Takes effect from the next solve on. Throws `Error` (usage) for options out of their range.
  virtual void set_options(SolverOptions options) = 0;

 protected:
  SystemSolver() = default;
  SystemSolver(const SystemSolver&) = default;
  SystemSolver(SystemSolver&&) = default;
  SystemSolver& operator=(const SystemSolver&) = default;
  SystemSolver& operator=(SystemSolver&&) = default;
};

}  // namespace heddle
