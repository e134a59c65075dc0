// GMRES(m) (Saad and Schultz 1986) for any square system.
#pragma once

#include "heddle/export.hpp"
#include "heddle/krylov_solver.hpp"

namespace heddle {

/// The residual never increases within a cycle of `SolverOptions::restart` iterations, after which
/// the solve begins again from b - A x. Its coefficients are those of the entry's ring, or real
/// under a plan that says `recurrence=real`. It is preconditioned from the right, so that the
/// recurrence knows the residual of the system itself. A cycle that reduces the true residual by
/// less than a thousandth counts as a restart that made no progress.
template <class S>
class HEDDLE_EXPORT Gmres final : public KrylovSolver<S> {
 public:
  explicit Gmres(OperatorReference<S> matrix, SolverOptions options = {})
      : Gmres(std::move(matrix), nullptr, std::move(options)) {}

  /// Takes the preconditioner: one of the library's, or any class derived from `Preconditioner<S>`.
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  Gmres(OperatorReference<S> matrix, P preconditioner, SolverOptions options = {})
      : Gmres(std::move(matrix), std::make_shared<P>(std::move(preconditioner)),
              std::move(options)) {}

  /// Null for none.
  Gmres(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
        SolverOptions options = {});
};

template <class M>
Gmres(M&&) -> Gmres<operator_scalar_t<M>>;
template <class M>
Gmres(M&&, SolverOptions) -> Gmres<operator_scalar_t<M>>;
template <class M, class P>
Gmres(M&&, P&&, SolverOptions = {}) -> Gmres<operator_scalar_t<M>>;

extern template class Gmres<float>;
extern template class Gmres<double>;
extern template class Gmres<long double>;

}  // namespace heddle
