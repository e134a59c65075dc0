#include "heddle/gmres.hpp"

#include "base/long_double.hpp"
#include "heddle/detail/method_over.hpp"
#include "heddle/methods/gmres.hpp"
#include "solvers/krylov/method_rows.hpp"

namespace heddle {

template <class S>
detail::MethodOver<S> Gmres<S>::method(const LinearOperator<S>& matrix,
                                       const Preconditioner<S>* preconditioner) {
  return detail::method_over<methods::Gmres, true, S>(method_rows::gmres, matrix.coefficient_ring(),
                                                      preconditioner != nullptr);
}

template class Gmres<float>;
template class Gmres<double>;
HEDDLE_IN_LONG_DOUBLE(template class Gmres<long double>;)

}  // namespace heddle
