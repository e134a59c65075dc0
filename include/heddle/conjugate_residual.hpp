// The conjugate residual method for Hermitian systems.
#pragma once

#include "heddle/export.hpp"
#include "heddle/krylov_solver.hpp"

namespace heddle {

/// The residual decreases in every iteration if the matrix is definite; an indefinite one may break
/// the recurrence down, which MINRES survives. Coefficients are real for every entry. Refuses
/// operators whose entries have no adjoint. The preconditioner must be positive definite, or the
/// report says `indefinite`.
template <class S>
class HEDDLE_EXPORT ConjugateResidual final : public KrylovSolver<S> {
 public:
  explicit ConjugateResidual(OperatorReference<S> matrix, SolverOptions options = {})
      : ConjugateResidual(std::move(matrix), nullptr, std::move(options)) {}

  /// Takes the preconditioner: one of the library's, or any class derived from `Preconditioner<S>`.
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  ConjugateResidual(OperatorReference<S> matrix, P preconditioner, SolverOptions options = {})
      : ConjugateResidual(std::move(matrix), std::make_shared<P>(std::move(preconditioner)),
                          std::move(options)) {}

  /// Null for none.
  ConjugateResidual(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
                    SolverOptions options = {});
};

template <class M>
ConjugateResidual(M&&) -> ConjugateResidual<operator_scalar_t<M>>;
template <class M>
ConjugateResidual(M&&, SolverOptions) -> ConjugateResidual<operator_scalar_t<M>>;
template <class M, class P>
ConjugateResidual(M&&, P&&, SolverOptions = {}) -> ConjugateResidual<operator_scalar_t<M>>;

extern template class ConjugateResidual<float>;
extern template class ConjugateResidual<double>;
extern template class ConjugateResidual<long double>;

}  // namespace heddle
