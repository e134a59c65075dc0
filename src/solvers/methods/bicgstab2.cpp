#include "heddle/bicgstab2.hpp"

#include "base/long_double.hpp"
#include "heddle/detail/method_over.hpp"
#include "heddle/methods/bicgstab2.hpp"
#include "solvers/krylov/method_rows.hpp"

namespace heddle {

template <class S>
detail::MethodOver<S> BiCGStab2<S>::method(const LinearOperator<S>& matrix,
                                           const Preconditioner<S>* preconditioner) {
  return detail::method_over<methods::BiCGStab2, true, S>(
      method_rows::bicgstab2, matrix.coefficient_ring(), preconditioner != nullptr);
}

template class BiCGStab2<float>;
template class BiCGStab2<double>;
HEDDLE_IN_LONG_DOUBLE(template class BiCGStab2<long double>;)

}  // namespace heddle
