// The Chebyshev iteration and Richardson's, whose coefficients come from an interval that holds the
// eigenvalues rather than from inner products: smoothers, and solvers where sums are expensive.
#pragma once

#include "heddle/detail/solver_of.hpp"
#include "heddle/export.hpp"

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
class HEDDLE_EXPORT ChebyshevIteration final : public detail::SolverOf<S, ChebyshevIteration> {
 public:
  using detail::SolverOf<S, ChebyshevIteration>::SolverOf;

 private:
  friend class detail::SolverOf<S, ChebyshevIteration>;
  static detail::MethodOver<S> method(const LinearOperator<S>& matrix,
                                      const Preconditioner<S>* preconditioner);
};

template <class M>
ChebyshevIteration(M&&, SolverOptions = {}) -> ChebyshevIteration<operator_scalar_t<M>>;
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
class HEDDLE_EXPORT Richardson final : public detail::SolverOf<S, Richardson> {
 public:
  using detail::SolverOf<S, Richardson>::SolverOf;

 private:
  friend class detail::SolverOf<S, Richardson>;
  static detail::MethodOver<S> method(const LinearOperator<S>& matrix,
                                      const Preconditioner<S>* preconditioner);
};

template <class M>
Richardson(M&&, SolverOptions = {}) -> Richardson<operator_scalar_t<M>>;
template <class M, class P>
Richardson(M&&, P&&, SolverOptions = {}) -> Richardson<operator_scalar_t<M>>;

extern template class Richardson<float>;
extern template class Richardson<double>;
extern template class Richardson<long double>;

}  // namespace heddle
