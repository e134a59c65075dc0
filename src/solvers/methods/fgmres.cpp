#include "heddle/fgmres.hpp"

#include "base/long_double.hpp"
#include "heddle/detail/method_over.hpp"
#include "heddle/methods/fgmres.hpp"
#include "solvers/krylov/method_rows.hpp"

namespace heddle {

template <class S>
detail::MethodOver<S> Fgmres<S>::method(const LinearOperator<S>& matrix,
                                        const Preconditioner<S>* preconditioner) {
  return detail::method_over<methods::Fgmres, true, S>(
      method_rows::fgmres, matrix.coefficient_ring(), preconditioner != nullptr);
}

template class Fgmres<float>;
template class Fgmres<double>;
HEDDLE_IN_LONG_DOUBLE(template class Fgmres<long double>;)

}  // namespace heddle
