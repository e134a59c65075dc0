// MINRES (Paige and Saunders 1975) for Hermitian systems, definite or not.
#pragma once

#include "heddle/export.hpp"
#include "heddle/krylov_solver.hpp"

namespace heddle {

/// The residual decreases in every iteration. Coefficients are real for every entry. Refuses
/// operators whose entries have no adjoint. The preconditioner must be positive definite, or the
/// report says `indefinite`. With one, the recurrence only knows the residual in the
/// preconditioner's norm: a run may end early or late, and the true residual decides.
template <class S>
class HEDDLE_EXPORT Minres final : public KrylovSolver<S> {
 public:
  explicit Minres(OperatorReference<S> matrix, SolverOptions options = {})
      : Minres(std::move(matrix), nullptr, std::move(options)) {}

  /// Takes the preconditioner: one of the library's, or any class derived from `Preconditioner<S>`.
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  Minres(OperatorReference<S> matrix, P preconditioner, SolverOptions options = {})
      : Minres(std::move(matrix), std::make_shared<P>(std::move(preconditioner)),
               std::move(options)) {}

  /// Null for none.
  Minres(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
         SolverOptions options = {});
};

template <class M>
Minres(M&&) -> Minres<operator_scalar_t<M>>;
template <class M>
Minres(M&&, SolverOptions) -> Minres<operator_scalar_t<M>>;
template <class M, class P>
Minres(M&&, P&&, SolverOptions = {}) -> Minres<operator_scalar_t<M>>;

extern template class Minres<float>;
extern template class Minres<double>;
extern template class Minres<long double>;

}  // namespace heddle
