#include "heddle/chebyshev_iteration.hpp"

#include "base/long_double.hpp"
#include "heddle/detail/method_over.hpp"
#include "heddle/methods/chebyshev_iteration.hpp"
#include "solvers/krylov/method_rows.hpp"

namespace heddle {

namespace {

template <class S>
detail::MethodOver<S> steps_of(const MethodInfo& row, bool preconditioned) {
  return detail::method_over<methods::ChebyshevIteration, false, S>(row, Ring::real,
                                                                    preconditioned);
}

}  // namespace

template <class S>
detail::MethodOver<S> ChebyshevIteration<S>::method(const LinearOperator<S>&,
                                                    const Preconditioner<S>* preconditioner) {
  return steps_of<S>(method_rows::chebyshev_iteration, preconditioner != nullptr);
}

template <class S>
detail::MethodOver<S> Richardson<S>::method(const LinearOperator<S>&,
                                            const Preconditioner<S>* preconditioner) {
  return steps_of<S>(method_rows::richardson, preconditioner != nullptr);
}

#define HEDDLE_SOLVERS(S)               \
  template class ChebyshevIteration<S>; \
  template class Richardson<S>;
HEDDLE_SOLVERS(float)
HEDDLE_SOLVERS(double)
HEDDLE_IN_LONG_DOUBLE(HEDDLE_SOLVERS(long double))
#undef HEDDLE_SOLVERS

}  // namespace heddle
