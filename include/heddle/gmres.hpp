// GMRES(m) (Saad and Schultz 1986) for any square system.
#pragma once

#include "heddle/detail/solver_of.hpp"
#include "heddle/export.hpp"

namespace heddle {

/// The residual never increases within a cycle of `SolverOptions::restart` iterations, after which
/// the solve begins again from b - A x. Its coefficients are those of the entry's ring, or real
/// under a plan that says `recurrence=real`. It is preconditioned from the right, so that the
/// recurrence knows the residual of the system itself. A cycle that reduces the true residual by
/// less than a thousandth counts as a restart that made no progress.
template <class S>
class HEDDLE_EXPORT Gmres final : public detail::SolverOf<S, Gmres> {
 public:
  using detail::SolverOf<S, Gmres>::SolverOf;

 private:
  friend class detail::SolverOf<S, Gmres>;
  static detail::MethodOver<S> method(const LinearOperator<S>& matrix,
                                      const Preconditioner<S>* preconditioner);
};

template <class M>
Gmres(M&&, SolverOptions = {}) -> Gmres<operator_scalar_t<M>>;
template <class M, class P>
Gmres(M&&, P&&, SolverOptions = {}) -> Gmres<operator_scalar_t<M>>;

extern template class Gmres<float>;
extern template class Gmres<double>;
extern template class Gmres<long double>;

}  // namespace heddle
