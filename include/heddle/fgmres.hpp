// FGMRES(m) (Saad 1993) for any square system, with a preconditioner that may vary.
#pragma once

#include "heddle/export.hpp"
#include "heddle/krylov_solver.hpp"

namespace heddle {

/// GMRES, see heddle/gmres.hpp, that keeps a second vector for each iteration between restarts. It
/// accepts any preconditioner, such as a solver (heddle/solver_preconditioner.hpp). Without one it
/// is GMRES. On a GPU a cycle of m iterations applies the preconditioner m + 1 times.
template <class S>
class HEDDLE_EXPORT Fgmres final : public KrylovSolver<S> {
 public:
  explicit Fgmres(OperatorReference<S> matrix, SolverOptions options = {})
      : Fgmres(std::move(matrix), nullptr, std::move(options)) {}

  /// Takes the preconditioner: one of the library's, or any class derived from `Preconditioner<S>`.
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  Fgmres(OperatorReference<S> matrix, P preconditioner, SolverOptions options = {})
      : Fgmres(std::move(matrix), std::make_shared<P>(std::move(preconditioner)),
               std::move(options)) {}

  /// Null for none.
  Fgmres(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
         SolverOptions options = {});
};

template <class M>
Fgmres(M&&) -> Fgmres<operator_scalar_t<M>>;
template <class M>
Fgmres(M&&, SolverOptions) -> Fgmres<operator_scalar_t<M>>;
template <class M, class P>
Fgmres(M&&, P&&, SolverOptions = {}) -> Fgmres<operator_scalar_t<M>>;

extern template class Fgmres<float>;
extern template class Fgmres<double>;
extern template class Fgmres<long double>;

}  // namespace heddle
