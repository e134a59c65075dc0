// Eigenpairs of matrices whose entries are chosen at run time.
#pragma once

#include <memory>
#include <span>
#include <variant>

#include "heddle/export.hpp"
#include "heddle/lobpcg.hpp"
#include "heddle/runtime/any_solver.hpp"

namespace heddle {

class HEDDLE_EXPORT AnyEigenSolver {
 public:
  /// `mass`: null for none, else a matrix of the same entry, precision and rows, which is stored
  /// in the basis and layout of `matrix`. Throws `Error` as `Lobpcg` does, size_mismatch for a mass
  /// of others.
  AnyEigenSolver(const AnyOperator& matrix, const AnyMatrix* mass,
                 const ComposedChoice& preconditioner, const EigenOptions& options);

  /// The same of any operators, `mass` may be null; `entries` are as `AnySolver` takes them.
  AnyEigenSolver(const AnyLinearOperator& matrix, const AnyLinearOperator* mass,
                 const AnyOperator& entries, const ComposedChoice& preconditioner,
                 const EigenOptions& options);

  /// As `Lobpcg::solve`, on fields of the operator's precision.
  EigenReport solve(std::span<AnyField> x);
  /// Bytes of the solver and of the mass as it is stored, but for what the preconditioner has.
  long long memory() const;

  /// The solver itself, for fields in any order and memory. Throws `Error` (size_mismatch) unless S
  /// is the operator's scalar.
  template <class S>
  Lobpcg<S>& solver() {
    return *detail::of_precision<std::unique_ptr<Lobpcg<S>>>(solver_);
  }

 private:
  long long mass_memory_ = 0;
  std::variant<std::unique_ptr<Lobpcg<float>>, std::unique_ptr<Lobpcg<double>>> solver_;
};

}  // namespace heddle
