#include "heddle/complex_symmetric.hpp"

#include "base/long_double.hpp"
#include "heddle/detail/method_over.hpp"
#include "heddle/methods/cocg.hpp"
#include "heddle/methods/conjugate_residual.hpp"
#include "solvers/krylov/method_rows.hpp"

namespace heddle {

namespace {

template <template <Ring, bool> class Method, class S>
detail::MethodOver<S> method_of(const MethodInfo& row, Ring ring, bool preconditioned) {
  if (ring == Ring::quaternion) {
    throw Error(
        ErrorKind::unsupported,
        std::string(row.title) + " is for real and complex matrices; use BiCGStab or GMRES");
  }
  return ring == Ring::complex
             ? detail::method_in_ring<Method, Ring::complex, S>(row, preconditioned)
             : detail::method_in_ring<Method, Ring::real, S>(row, preconditioned);
}

}  // namespace

template <class S>
detail::MethodOver<S> Cocg<S>::method(const LinearOperator<S>& matrix,
                                      const Preconditioner<S>* preconditioner) {
  return method_of<methods::Cocg, S>(method_rows::cocg, matrix.ring(), preconditioner != nullptr);
}

template <class S>
detail::MethodOver<S> Cocr<S>::method(const LinearOperator<S>& matrix,
                                      const Preconditioner<S>* preconditioner) {
  return method_of<methods::Cocr, S>(method_rows::cocr, matrix.ring(), preconditioner != nullptr);
}

#define HEDDLE_SOLVERS(S) \
  template class Cocg<S>; \
  template class Cocr<S>;
HEDDLE_SOLVERS(float)
HEDDLE_SOLVERS(double)
HEDDLE_IN_LONG_DOUBLE(HEDDLE_SOLVERS(long double))
#undef HEDDLE_SOLVERS

}  // namespace heddle
