// MINRES (Paige and Saunders 1975) for Hermitian systems, definite or not.
#pragma once

#include "heddle/detail/solver_of.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// The residual decreases in every iteration. Coefficients are real for every entry. Refuses
/// operators whose entries have no adjoint. The preconditioner must be positive definite, or the
/// report says `indefinite`. With one, the recurrence only knows the residual in the
/// preconditioner's norm: a run may end early or late, and the true residual decides.
template <class S>
class HEDDLE_EXPORT Minres final : public detail::SolverOf<S, Minres> {
 public:
  using detail::SolverOf<S, Minres>::SolverOf;

 private:
  friend class detail::SolverOf<S, Minres>;
  static detail::MethodOver<S> method(const LinearOperator<S>& matrix,
                                      const Preconditioner<S>* preconditioner);
};

template <class M>
Minres(M&&, SolverOptions = {}) -> Minres<operator_scalar_t<M>>;
template <class M, class P>
Minres(M&&, P&&, SolverOptions = {}) -> Minres<operator_scalar_t<M>>;

extern template class Minres<float>;
extern template class Minres<double>;
extern template class Minres<long double>;

}  // namespace heddle
