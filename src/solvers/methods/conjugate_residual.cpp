#include "heddle/conjugate_residual.hpp"

#include "base/long_double.hpp"
#include "heddle/detail/method_over.hpp"
#include "heddle/methods/conjugate_residual.hpp"
#include "solvers/krylov/method_rows.hpp"

namespace heddle {

template <class S>
detail::MethodOver<S> ConjugateResidual<S>::method(const LinearOperator<S>&,
                                                   const Preconditioner<S>* preconditioner) {
  return detail::method_over<methods::ConjugateResidual, false, S>(
      method_rows::conjugate_residual, Ring::real, preconditioner != nullptr);
}

template class ConjugateResidual<float>;
template class ConjugateResidual<double>;
HEDDLE_IN_LONG_DOUBLE(template class ConjugateResidual<long double>;)

}  // namespace heddle
