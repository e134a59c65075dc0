// BiCGStab, preconditioned from the right, for systems that are not Hermitian.
#pragma once

#include "heddle/export.hpp"
#include "heddle/krylov_solver.hpp"

namespace heddle {

/// Runs in the coefficients of the operator's plan: real ones for every entry (then it equals
/// BiCGStab on the real expansion), or those of the entry's ring. In the quaternion form omega
/// stays real, because only then is v -> v - A v omega linear over quaternions from the right.
template <class S>
class HEDDLE_EXPORT BiCGStab final : public KrylovSolver<S> {
 public:
  explicit BiCGStab(OperatorReference<S> matrix, SolverOptions options = {})
      : BiCGStab(std::move(matrix), nullptr, std::move(options)) {}

  /// Takes the preconditioner: one of the library's, or any class derived from `Preconditioner<S>`.
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  BiCGStab(OperatorReference<S> matrix, P preconditioner, SolverOptions options = {})
      : BiCGStab(std::move(matrix), std::make_shared<P>(std::move(preconditioner)),
                 std::move(options)) {}

  /// Null for none.
  BiCGStab(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
           SolverOptions options = {});
};

template <class M>
BiCGStab(M&&) -> BiCGStab<operator_scalar_t<M>>;
template <class M>
BiCGStab(M&&, SolverOptions) -> BiCGStab<operator_scalar_t<M>>;
template <class M, class P>
BiCGStab(M&&, P&&, SolverOptions = {}) -> BiCGStab<operator_scalar_t<M>>;

extern template class BiCGStab<float>;
extern template class BiCGStab<double>;
extern template class BiCGStab<long double>;

}  // namespace heddle
