// Eigenpairs of matrices whose entries are chosen at run time.
#pragma once

#include <memory>
#include <span>
#include <variant>

#include "heddle/export.hpp"
#include "heddle/lobpcg.hpp"
#include "heddle/runtime/any_operator.hpp"
#include "heddle/runtime/preconditioner_choice.hpp"

namespace heddle {

class HEDDLE_EXPORT AnyEigenSolver {
 public:
  /// `mass`: null for none, else an operator on fields of the system's, see `AnyOperator`. Throws
  /// `Error` as `Lobpcg` does, and size_mismatch for a mass of another entry, precision or size.
  AnyEigenSolver(const AnyLinearOperator& system, const AnyLinearOperator* mass,
                 const ComposedChoice& preconditioner, const EigenOptions& options);

  /// Like `Lobpcg::solve`, on fields of the operator's precision.
  EigenReport solve(std::span<AnyField> x);
  /// Bytes of the solver, excluding those of operators and the preconditioner.
  long long memory() const;
  /// Like `AnySolver::copied_bytes`.
  long long copied_bytes() const { return facts_.copied_bytes; }

  /// The solver itself, for fields in any order and memory. Throws `Error` (size_mismatch) unless S
  /// is the operator's scalar.
  template <class S>
  Lobpcg<S>& solver() {
    return *detail::of_precision<std::unique_ptr<Lobpcg<S>>>(solver_);
  }

 private:
  PreconditionerFacts facts_;
  std::variant<std::unique_ptr<Lobpcg<float>>, std::unique_ptr<Lobpcg<double>>> solver_;
};

}  // namespace heddle
