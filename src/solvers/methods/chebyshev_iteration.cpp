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
ChebyshevIteration<S>::ChebyshevIteration(OperatorReference<S> matrix,
                                          std::shared_ptr<Preconditioner<S>> preconditioner,
                                          SolverOptions options)
    : KrylovSolver<S>(matrix, preconditioner, std::move(options),
                      steps_of<S>(method_rows::chebyshev_iteration, preconditioner != nullptr)) {}

template <class S>
Richardson<S>::Richardson(OperatorReference<S> matrix,
                          std::shared_ptr<Preconditioner<S>> preconditioner, SolverOptions options)
    : KrylovSolver<S>(matrix, preconditioner, std::move(options),
                      steps_of<S>(method_rows::richardson, preconditioner != nullptr)) {}

#define HEDDLE_SOLVERS(S)               \
  template class ChebyshevIteration<S>; \
  template class Richardson<S>;
HEDDLE_SOLVERS(float)
HEDDLE_SOLVERS(double)
HEDDLE_IN_LONG_DOUBLE(HEDDLE_SOLVERS(long double))
#undef HEDDLE_SOLVERS

}  // namespace heddle
