// The conjugate residual method for Hermitian systems.
#pragma once

#include "heddle/detail/solver_of.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// The residual decreases in every iteration if the matrix is definite; an indefinite one may break
/// the recurrence down, which MINRES survives. Coefficients are real for every entry. Refuses
/// operators whose entries have no adjoint. The preconditioner must be positive definite, or the
/// report says `indefinite`.
template <class S>
class HEDDLE_EXPORT ConjugateResidual final : public detail::SolverOf<S, ConjugateResidual> {
 public:
  using detail::SolverOf<S, ConjugateResidual>::SolverOf;

 private:
  friend class detail::SolverOf<S, ConjugateResidual>;
  static detail::MethodOver<S> method(const LinearOperator<S>& matrix,
                                      const Preconditioner<S>* preconditioner);
};

template <class M>
ConjugateResidual(M&&, SolverOptions = {}) -> ConjugateResidual<operator_scalar_t<M>>;
template <class M, class P>
ConjugateResidual(M&&, P&&, SolverOptions = {}) -> ConjugateResidual<operator_scalar_t<M>>;

extern template class ConjugateResidual<float>;
extern template class ConjugateResidual<double>;
extern template class ConjugateResidual<long double>;

}  // namespace heddle
