// BiCGStab(2), preconditioned from the right, for systems on which BiCGStab stalls.
#pragma once

#include "heddle/detail/solver_of.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// Each iteration takes two steps of BiCG and a polynomial of degree 2 that minimises the residual:
/// four products, as many as two iterations of BiCGStab. It converges for eigenvalues along the
/// imaginary axis, where polynomials of degree 1 reduce nothing. The coefficients are those that
/// BiCGStab takes; in the quaternion form those of the polynomial are real.
template <class S>
class HEDDLE_EXPORT BiCGStab2 final : public detail::SolverOf<S, BiCGStab2> {
 public:
  using detail::SolverOf<S, BiCGStab2>::SolverOf;

 private:
  friend class detail::SolverOf<S, BiCGStab2>;
  static detail::MethodOver<S> method(const LinearOperator<S>& matrix,
                                      const Preconditioner<S>* preconditioner);
};

template <class M>
BiCGStab2(M&&, SolverOptions = {}) -> BiCGStab2<operator_scalar_t<M>>;
template <class M, class P>
BiCGStab2(M&&, P&&, SolverOptions = {}) -> BiCGStab2<operator_scalar_t<M>>;

extern template class BiCGStab2<float>;
extern template class BiCGStab2<double>;
extern template class BiCGStab2<long double>;

}  // namespace heddle
