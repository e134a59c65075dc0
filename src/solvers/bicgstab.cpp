#include "heddle/bicgstab.hpp"

#include "heddle/methods/bicgstab.hpp"
#include "method_rows.hpp"

namespace heddle {

namespace {

template <class S>
Ring ring_of_recurrence(const LinearOperator<S>& matrix) {
  return matrix.recurrence() == Recurrence::real ? Ring::real : matrix.ring();
}

}  // namespace

template <class S>
BiCGStab<S>::BiCGStab(OperatorReference<S> matrix,
                      std::shared_ptr<Preconditioner<S>> preconditioner, SolverOptions options)
    : KrylovSolver<S>(
          matrix, preconditioner, std::move(options),
          detail::method_over<methods::BiCGStab, true, S>(
              method_rows::bicgstab, ring_of_recurrence(*matrix), preconditioner != nullptr)) {}

template class BiCGStab<float>;
template class BiCGStab<double>;
template class BiCGStab<long double>;

}  // namespace heddle
