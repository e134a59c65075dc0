#include "heddle/minres.hpp"

#include "base/long_double.hpp"
#include "heddle/detail/method_over.hpp"
#include "heddle/methods/minres.hpp"
#include "solvers/krylov/method_rows.hpp"

namespace heddle {

template <class S>
detail::MethodOver<S> Minres<S>::method(const LinearOperator<S>&,
                                        const Preconditioner<S>* preconditioner) {
  return detail::method_over<methods::Minres, false, S>(method_rows::minres, Ring::real,
                                                        preconditioner != nullptr);
}

template class Minres<float>;
template class Minres<double>;
HEDDLE_IN_LONG_DOUBLE(template class Minres<long double>;)

}  // namespace heddle
