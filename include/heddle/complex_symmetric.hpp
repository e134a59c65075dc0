// COCG and COCR for complex symmetric systems: Helmholtz with absorbing boundaries, eddy currents.
#pragma once

#include "heddle/detail/solver_of.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// Conjugate gradient over bilinear products, with one product by the matrix per iteration. Refuses
/// quaternions, a matrix whose a_ij is not the transpose of a_ji, unconjugated (`not_symmetric`,
/// found by two products), and preconditioners that are not symmetric in that sense. Quasi-null
/// vectors, r^T r = 0 with nonzero r, end it as a breakdown. Real symmetric systems may be
/// indefinite.
template <class S>
class HEDDLE_EXPORT Cocg final : public detail::SolverOf<S, Cocg> {
 public:
  using detail::SolverOf<S, Cocg>::SolverOf;

 private:
  friend class detail::SolverOf<S, Cocg>;
  static detail::MethodOver<S> method(const LinearOperator<S>& matrix,
                                      const Preconditioner<S>* preconditioner);
};

template <class M>
Cocg(M&&, SolverOptions = {}) -> Cocg<operator_scalar_t<M>>;
template <class M, class P>
Cocg(M&&, P&&, SolverOptions = {}) -> Cocg<operator_scalar_t<M>>;

extern template class Cocg<float>;
extern template class Cocg<double>;
extern template class Cocg<long double>;

/// The same for conjugate residuals, which converge more smoothly than COCG for one more vector.
template <class S>
class HEDDLE_EXPORT Cocr final : public detail::SolverOf<S, Cocr> {
 public:
  using detail::SolverOf<S, Cocr>::SolverOf;

 private:
  friend class detail::SolverOf<S, Cocr>;
  static detail::MethodOver<S> method(const LinearOperator<S>& matrix,
                                      const Preconditioner<S>* preconditioner);
};

template <class M>
Cocr(M&&, SolverOptions = {}) -> Cocr<operator_scalar_t<M>>;
template <class M, class P>
Cocr(M&&, P&&, SolverOptions = {}) -> Cocr<operator_scalar_t<M>>;

extern template class Cocr<float>;
extern template class Cocr<double>;
extern template class Cocr<long double>;

}  // namespace heddle
