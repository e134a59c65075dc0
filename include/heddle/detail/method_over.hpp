// A method over fields of S, its listing's type forgotten: what a solver is made of.
#pragma once

#include <memory>
#include <string>
#include <type_traits>
#include <utility>

#include "heddle/detail/host_loop.hpp"
#include "heddle/detail/method_program.hpp"
#include "heddle/method_info.hpp"

namespace heddle::detail {

template <class S>
struct MethodOver {
  MethodInfo info;
  MethodProgram program;
  std::unique_ptr<MethodLoop<S>> (*make_host_loop)(LoopParts<S> parts);
};

template <template <Ring, bool> class Method, Ring R, bool preconditioned, class S>
MethodOver<S> method_in(const MethodInfo& info) {
  return {info,
          program_of<Method, R, preconditioned>({std::string(info.type), std::string(info.header)}),
          [](LoopParts<S> parts) -> std::unique_ptr<MethodLoop<S>> {
            using M = Method<R, preconditioned>;
            if constexpr (methods::has_basis<M> && std::is_same_v<S, double>) {
              if (parts.systems.front().basis.scalar_bytes == sizeof(float)) {
                return std::make_unique<HostLoop<M, S, float>>(std::move(parts));
              }
            }
            return std::make_unique<HostLoop<M, S>>(std::move(parts));
          }};
}

template <template <Ring, bool> class Method, Ring R, class S>
MethodOver<S> method_in_ring(const MethodInfo& info, bool preconditioned) {
  return preconditioned ? method_in<Method, R, true, S>(info)
                        : method_in<Method, R, false, S>(info);
}

/// `ring`: of the coefficients, if the method has others than real ones.
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
