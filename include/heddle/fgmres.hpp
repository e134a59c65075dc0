// FGMRES(m) (Saad 1993) for any square system, with a preconditioner that may vary.
#pragma once

#include "heddle/detail/solver_of.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// GMRES, see heddle/gmres.hpp, that keeps a second vector for each iteration between restarts. It
/// accepts any preconditioner, such as a solver (heddle/solver_preconditioner.hpp). Without one it
/// is GMRES. On a GPU a cycle of m iterations applies the preconditioner m + 1 times.
template <class S>
class HEDDLE_EXPORT Fgmres final : public detail::SolverOf<S, Fgmres> {
 public:
  using detail::SolverOf<S, Fgmres>::SolverOf;

 private:
  friend class detail::SolverOf<S, Fgmres>;
  static detail::MethodOver<S> method(const LinearOperator<S>& matrix,
                                      const Preconditioner<S>* preconditioner);
};

template <class M>
Fgmres(M&&, SolverOptions = {}) -> Fgmres<operator_scalar_t<M>>;
template <class M, class P>
Fgmres(M&&, P&&, SolverOptions = {}) -> Fgmres<operator_scalar_t<M>>;

extern template class Fgmres<float>;
extern template class Fgmres<double>;
extern template class Fgmres<long double>;

}  // namespace heddle
