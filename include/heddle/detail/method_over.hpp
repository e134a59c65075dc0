// A listing in the form that a solver takes: facts for every executor, and its steps compiled for a
// CPU.
#pragma once

#include <string>

#include "heddle/detail/host_method.hpp"
#include "heddle/detail/host_walk.hpp"
#include "heddle/detail/method_program.hpp"
#include "heddle/method_info.hpp"

namespace heddle::detail {

template <class M, class S, class Preconditioned>
inline constexpr HostMethod<S> host_method = HostListings<M, S, Preconditioned>::method();

template <template <Ring, bool> class Method, Ring R, bool preconditioned, class S>
MethodOver<S> method_in(const MethodInfo& info) {
  return {info,
          program_of<Method, R, preconditioned>({std::string(info.type), std::string(info.header)}),
          &host_method<Method<R, preconditioned>, S, Method<R, true>>};
}

template <template <Ring, bool> class Method, Ring R, class S>
MethodOver<S> method_in_ring(const MethodInfo& info, bool preconditioned) {
  return preconditioned ? method_in<Method, R, true, S>(info)
                        : method_in<Method, R, false, S>(info);
}

/// `ring`: that of the coefficients, if the method has others than real ones.
template <template <Ring, bool> class Method, bool has_ring_coefficients, class S>
MethodOver<S> method_over(const MethodInfo& info, [[maybe_unused]] Ring ring, bool preconditioned) {
  if constexpr (has_ring_coefficients) {
    if (ring == Ring::complex) {
      return method_in_ring<Method, Ring::complex, S>(info, preconditioned);
    }
    if (ring == Ring::quaternion) {
      return method_in_ring<Method, Ring::quaternion, S>(info, preconditioned);
    }
  }
  return method_in_ring<Method, Ring::real, S>(info, preconditioned);
}

}  // namespace heddle::detail
