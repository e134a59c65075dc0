// Which copies of its loops the library uses on this machine.
#pragma once

#include "heddle/config.hpp"

namespace heddle::detail {

inline bool machine_has_avx2() {
  static const bool has = __builtin_cpu_supports("avx2") && __builtin_cpu_supports("fma");
  return has;
}

/// True if loops use their copies for AVX2 and FMA. A compile-time constant if the library has
/// copies of one kind only, so that compilers make no others.
template <bool has_choice = (has_avx2_copies && has_baseline_copies)>
constexpr bool has_avx2() {
  if constexpr (has_choice) {
    return machine_has_avx2();
  } else {
    return has_avx2_copies;
  }
}

}  // namespace heddle::detail
