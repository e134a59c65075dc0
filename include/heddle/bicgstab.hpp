// BiCGStab, preconditioned from the right, for systems that are not Hermitian.
#pragma once

#include "heddle/detail/solver_of.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// Runs in the coefficients of the operator's plan: real ones for every entry (then it equals
/// BiCGStab on the real expansion), or those of the entry's ring. In the quaternion form omega
/// stays real, because only then is v -> v - A v omega linear over quaternions from the right.
template <class S>
class HEDDLE_EXPORT BiCGStab final : public detail::SolverOf<S, BiCGStab> {
 public:
  using detail::SolverOf<S, BiCGStab>::SolverOf;

 private:
  friend class detail::SolverOf<S, BiCGStab>;
  static detail::MethodOver<S> method(const LinearOperator<S>& matrix,
                                      const Preconditioner<S>* preconditioner);
};

template <class M>
BiCGStab(M&&, SolverOptions = {}) -> BiCGStab<operator_scalar_t<M>>;
template <class M, class P>
BiCGStab(M&&, P&&, SolverOptions = {}) -> BiCGStab<operator_scalar_t<M>>;

extern template class BiCGStab<float>;
extern template class BiCGStab<double>;
extern template class BiCGStab<long double>;

}  // namespace heddle
