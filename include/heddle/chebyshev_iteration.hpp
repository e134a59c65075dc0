// The Chebyshev iteration and Richardson's, whose coefficients come from an interval that holds the
// eigenvalues rather than from inner products: smoothers, and solvers where sums are expensive.
#pragma once

#include "heddle/export.hpp"
#include "heddle/krylov_solver.hpp"

namespace heddle {

/// Saad, Iterative Methods for Sparse Linear Systems (2003), algorithm 12.1, for a Hermitian
/// positive definite A and a preconditioner M that is both too: k iterations leave at most
/// 2 / (c^k + c^-k) of the error, in the norm of A, for c = (sqrt(s) + 1) / (sqrt(s) - 1) and
/// s = upper / lower, where `SolverOptions::interval` holds the eigenvalues of M^-1 A.
/// `SolverOptions::max_iterations` gives a fixed number of steps: x is then the last iterate,
/// unless the guess has the smaller residual.
///
/// Without an interval, 32 steps of Lanczos' method estimate both of its ends, and it is widened by
/// a factor of 1.1 at each. An upper end that is too small makes the residual grow: the solve ends
/// as `stagnated`, with the best x. A lower end that is too large only costs iterations, many of
/// them if the smallest eigenvalues are much smaller: then state an interval, or use conjugate
/// gradient. The estimate is made again when a matrix in sliced storage has new values, and in each
/// solve over any other operator; `enqueue` waits for it. If it finds that the matrix or the
/// preconditioner is not positive definite, the report says `indefinite`.
template <class S>
class HEDDLE_EXPORT ChebyshevIteration final : public KrylovSolver<S> {
 public:
  explicit ChebyshevIteration(OperatorReference<S> matrix, SolverOptions options = {})
      : ChebyshevIteration(std::move(matrix), nullptr, std::move(options)) {}

  /// Takes the preconditioner: one of the library's, or any class derived from `Preconditioner<S>`.
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  ChebyshevIteration(OperatorReference<S> matrix, P preconditioner, SolverOptions options = {})
      : ChebyshevIteration(std::move(matrix), std::make_shared<P>(std::move(preconditioner)),
                           std::move(options)) {}

  /// Null for none.
  ChebyshevIteration(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
                     SolverOptions options = {});
};

template <class M>
ChebyshevIteration(M&&) -> ChebyshevIteration<operator_scalar_t<M>>;
template <class M>
ChebyshevIteration(M&&, SolverOptions) -> ChebyshevIteration<operator_scalar_t<M>>;
template <class M, class P>
ChebyshevIteration(M&&, P&&, SolverOptions = {}) -> ChebyshevIteration<operator_scalar_t<M>>;

extern template class ChebyshevIteration<float>;
extern template class ChebyshevIteration<double>;
extern template class ChebyshevIteration<long double>;

/// x += omega M^-1 (b - A x). `SolverOptions::omega` is used if it is set, for any matrix; it is
/// right if all eigenvalues of omega M^-1 A lie within 1 of 1. Otherwise omega = 2 / (lower +
/// upper) of the interval, stated or estimated as above, for matrices as above. An omega that does
/// not suit the eigenvalues makes the residual grow: the solve ends as `stagnated`.
template <class S>
class HEDDLE_EXPORT Richardson final : public KrylovSolver<S> {
 public:
  explicit Richardson(OperatorReference<S> matrix, SolverOptions options = {})
      : Richardson(std::move(matrix), nullptr, std::move(options)) {}

  /// Takes the preconditioner: one of the library's, or any class derived from `Preconditioner<S>`.
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  Richardson(OperatorReference<S> matrix, P preconditioner, SolverOptions options = {})
      : Richardson(std::move(matrix), std::make_shared<P>(std::move(preconditioner)),
                   std::move(options)) {}

  /// Null for none.
  Richardson(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
             SolverOptions options = {});
};

template <class M>
Richardson(M&&) -> Richardson<operator_scalar_t<M>>;
template <class M>
Richardson(M&&, SolverOptions) -> Richardson<operator_scalar_t<M>>;
template <class M, class P>
Richardson(M&&, P&&, SolverOptions = {}) -> Richardson<operator_scalar_t<M>>;

extern template class Richardson<float>;
extern template class Richardson<double>;
extern template class Richardson<long double>;

}  // namespace heddle
