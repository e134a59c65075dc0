// Least squares with matrices whose entries are chosen at run time.
#pragma once

#include <memory>
#include <variant>

#include "heddle/export.hpp"
#include "heddle/lsmr.hpp"
#include "heddle/runtime/any_operator.hpp"

namespace heddle {

class HEDDLE_EXPORT AnyLeastSquares {
 public:
  /// Throws `Error` as `Lsmr` does.
  AnyLeastSquares(const AnyLinearOperator& matrix, const LeastSquaresOptions& options);

  /// Like `Lsmr::solve`, on fields of the operator's precision: b of its rows, x of its columns.
  LeastSquaresReport solve(const AnyField& b, AnyField& x);
  const LeastSquaresHistory& history() const;
  /// Bytes of the solver and of an adjoint in sliced storage.
  long long memory() const;

  /// The solver itself, for fields in any order and memory. Throws `Error` (size_mismatch) unless S
  /// is the operator's scalar.
  template <class S>
  Lsmr<S>& solver() {
    return *detail::of_precision<std::unique_ptr<Lsmr<S>>>(solver_);
  }

 private:
  long long adjoint_memory_ = 0;
  std::variant<std::unique_ptr<Lsmr<float>>, std::unique_ptr<Lsmr<double>>> solver_;
};

}  // namespace heddle
