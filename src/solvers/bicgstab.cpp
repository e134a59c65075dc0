#include "heddle/bicgstab.hpp"

#include "heddle/detail/method_over.hpp"
#include "heddle/methods/bicgstab.hpp"
#include "method_rows.hpp"

namespace heddle {

template <class S>
BiCGStab<S>::BiCGStab(OperatorReference<S> matrix,
                      std::shared_ptr<Preconditioner<S>> preconditioner, SolverOptions options)
    : KrylovSolver<S>(
          matrix, preconditioner, std::move(options),
          detail::method_over<methods::BiCGStab, true, S>(
              method_rows::bicgstab, matrix->coefficient_ring(), preconditioner != nullptr)) {}

template class BiCGStab<float>;
template class BiCGStab<double>;
template class BiCGStab<long double>;

}  // namespace heddle
