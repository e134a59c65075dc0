#include "heddle/bicgstab.hpp"

#include "base/long_double.hpp"
#include "heddle/detail/method_over.hpp"
#include "heddle/methods/bicgstab.hpp"
#include "solvers/krylov/method_rows.hpp"

namespace heddle {

template <class S>
detail::MethodOver<S> BiCGStab<S>::method(const LinearOperator<S>& matrix,
                                          const Preconditioner<S>* preconditioner) {
  return detail::method_over<methods::BiCGStab, true, S>(
      method_rows::bicgstab, matrix.coefficient_ring(), preconditioner != nullptr);
}

template class BiCGStab<float>;
template class BiCGStab<double>;
HEDDLE_IN_LONG_DOUBLE(template class BiCGStab<long double>;)

}  // namespace heddle
