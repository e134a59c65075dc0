#include "heddle/fgmres.hpp"

#include "base/long_double.hpp"
#include "heddle/detail/method_over.hpp"
#include "heddle/methods/fgmres.hpp"
#include "solvers/krylov/method_rows.hpp"

namespace heddle {

template <class S>
Fgmres<S>::Fgmres(OperatorReference<S> matrix, std::shared_ptr<Preconditioner<S>> preconditioner,
                  SolverOptions options)
    : KrylovSolver<S>(
          matrix, preconditioner, std::move(options),
          detail::method_over<methods::Fgmres, true, S>(
              method_rows::fgmres, matrix->coefficient_ring(), preconditioner != nullptr)) {}

template class Fgmres<float>;
template class Fgmres<double>;
HEDDLE_IN_LONG_DOUBLE(template class Fgmres<long double>;)

}  // namespace heddle
