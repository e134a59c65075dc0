// The preconditioned conjugate gradient method for Hermitian positive definite systems.
#pragma once

#include "heddle/export.hpp"
#include "heddle/krylov_solver.hpp"

namespace heddle {

/// Its coefficients are real for every entry. Refuses operators whose entries have no adjoint.
template <class S>
class HEDDLE_EXPORT ConjugateGradient final : public KrylovSolver<S> {
 public:
  explicit ConjugateGradient(OperatorReference<S> matrix, SolverOptions options = {})
      : ConjugateGradient(std::move(matrix), nullptr, std::move(options)) {}

  /// Takes the preconditioner: one of the library's, or any class derived from `Preconditioner<S>`.
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  ConjugateGradient(OperatorReference<S> matrix, P preconditioner, SolverOptions options = {})
      : ConjugateGradient(std::move(matrix), std::make_shared<P>(std::move(preconditioner)),
                          std::move(options)) {}

  /// Null for none.
  ConjugateGradient(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
                    SolverOptions options = {});
};

template <class M>
ConjugateGradient(M&&) -> ConjugateGradient<operator_scalar_t<M>>;
template <class M>
ConjugateGradient(M&&, SolverOptions) -> ConjugateGradient<operator_scalar_t<M>>;
template <class M, class P>
ConjugateGradient(M&&, P&&, SolverOptions = {}) -> ConjugateGradient<operator_scalar_t<M>>;

extern template class ConjugateGradient<float>;
extern template class ConjugateGradient<double>;
extern template class ConjugateGradient<long double>;

}  // namespace heddle
