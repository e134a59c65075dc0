// Guesses for a sequence of systems, from the solutions of the last ones (Fischer, Projection
// techniques for iterative solution of Ax = b with successive right-hand sides, 1998).
#pragma once

#include <cstddef>
#include <memory>

#include "heddle/export.hpp"
#include "heddle/linear_operator.hpp"

namespace heddle {

/// The origin of a guess, and its quality.
struct HEDDLE_EXPORT EarlierGuess {
  std::size_t used = 0;        // directions among the kept solutions; 0: x was left unchanged
  double residual_before = 0;  // |b - A x| / |b| of x on entry; 0 where b = 0
  double residual = 0;         // the same of the returned x, up to rounding
};

/// Keeps the last solutions of systems with one Hermitian positive definite operator, whose values
/// may change slowly, and improves guesses for the next system: it adds the correction in the span
/// of the kept solutions, with real coefficients, that minimises the A-norm of the error. Solutions
/// that depend on one another do no harm.
///
///     EarlierSolutions<double> earlier(A, 8);
///     for (...) {
///       A.update_values(...);
///       earlier.guess(b, x);
///       if (solver.solve(b, x).solved()) earlier.keep(x);
///     }
///
/// A guess costs a product for b - A x and two for the last solution and its difference from the
/// one before. If the values have changed, or the operator does not report whether they have, it
/// costs one for each kept solution instead. `LinearOperator::apply_all` computes them together.
///
/// All fields lie in the operator's basis, layout and memory, like those of `A.field()`. It keeps
/// the operator as `KrylovSolver` does, works on its stream, and serves one thread at a time.
template <class S>
class HEDDLE_EXPORT EarlierSolutions {
 public:
  static constexpr std::size_t limit = 64;  // solutions

  /// Keeps the last `most` solutions, 1 to `limit`, in 2 `most` + 1 fields. Throws `Error`: usage
  /// for another number, size_mismatch or unsupported for an operator that is not square or has no
  /// adjoint, memory where the fields do not fit.
  EarlierSolutions(OperatorReference<S> matrix, std::size_t most);
  ~EarlierSolutions();
  EarlierSolutions(const EarlierSolutions&) = delete;
  EarlierSolutions& operator=(const EarlierSolutions&) = delete;

  /// Adds to the guess x the correction that the kept solutions provide for A x = b. Leaves x
  /// unchanged if there are none, or if b, x or A x are not finite. Allocates nothing. Throws
  /// `Error` for fields that are not the operator's.
  EarlierGuess guess(const FieldView<const S>& b, const FieldView<S>& x);

  /// Keeps a solution in place of the oldest; returns false for one that is zero or not finite,
  /// which is not kept. Takes no product. Throws `Error` like `guess`.
  bool keep(const FieldView<const S>& x);

  /// Forgets all kept solutions.
  void clear();

  /// The number of kept solutions.
  std::size_t size() const;
  /// Bytes that it has allocated.
  long long memory() const;

 private:
  class State;
  std::unique_ptr<State> state_;
};

template <class M>
EarlierSolutions(M&&, std::size_t) -> EarlierSolutions<operator_scalar_t<M>>;

extern template class EarlierSolutions<float>;
extern template class EarlierSolutions<double>;
extern template class EarlierSolutions<long double>;

}  // namespace heddle
