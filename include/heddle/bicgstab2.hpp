// BiCGStab(2), preconditioned from the right, for systems on which BiCGStab stalls.
#pragma once

#include "heddle/export.hpp"
#include "heddle/krylov_solver.hpp"

namespace heddle {

/// Each iteration takes two steps of BiCG and a polynomial of degree 2 that minimises the residual:
/// four products, as many as two iterations of BiCGStab. It converges for eigenvalues along the
/// imaginary axis, where polynomials of degree 1 reduce nothing. The coefficients are those that
/// BiCGStab takes; in the quaternion form those of the polynomial are real.
template <class S>
class HEDDLE_EXPORT BiCGStab2 final : public KrylovSolver<S> {
 public:
  explicit BiCGStab2(OperatorReference<S> matrix, SolverOptions options = {})
      : BiCGStab2(std::move(matrix), nullptr, std::move(options)) {}

  /// Takes the preconditioner: one of the library's, or any class derived from `Preconditioner<S>`.
  template <class P>
    requires std::is_base_of_v<Preconditioner<S>, P>
  BiCGStab2(OperatorReference<S> matrix, P preconditioner, SolverOptions options = {})
      : BiCGStab2(std::move(matrix), std::make_shared<P>(std::move(preconditioner)),
                  std::move(options)) {}

  /// Null for none.
  BiCGStab2(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
            SolverOptions options = {});
};

template <class M>
BiCGStab2(M&&) -> BiCGStab2<operator_scalar_t<M>>;
template <class M>
BiCGStab2(M&&, SolverOptions) -> BiCGStab2<operator_scalar_t<M>>;
template <class M, class P>
BiCGStab2(M&&, P&&, SolverOptions = {}) -> BiCGStab2<operator_scalar_t<M>>;

extern template class BiCGStab2<float>;
extern template class BiCGStab2<double>;
extern template class BiCGStab2<long double>;

}  // namespace heddle
