// The preconditioned conjugate gradient method for Hermitian positive definite systems.
#pragma once

#include "heddle/detail/solver_of.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// Its coefficients are real for every entry. Refuses operators whose entries have no adjoint.
template <class S>
class HEDDLE_EXPORT ConjugateGradient final : public detail::SolverOf<S, ConjugateGradient> {
 public:
  using detail::SolverOf<S, ConjugateGradient>::SolverOf;

 private:
  friend class detail::SolverOf<S, ConjugateGradient>;
  static detail::MethodOver<S> method(const LinearOperator<S>& matrix,
                                      const Preconditioner<S>* preconditioner);
};

template <class M>
ConjugateGradient(M&&, SolverOptions = {}) -> ConjugateGradient<operator_scalar_t<M>>;
template <class M, class P>
ConjugateGradient(M&&, P&&, SolverOptions = {}) -> ConjugateGradient<operator_scalar_t<M>>;

extern template class ConjugateGradient<float>;
extern template class ConjugateGradient<double>;
extern template class ConjugateGradient<long double>;

}  // namespace heddle
