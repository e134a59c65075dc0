// Loops over elements that compilers vectorize, for the instructions that a CPU has.
#pragma once

#include <type_traits>

#include "heddle/detail/assert.hpp"
#include "heddle/detail/product_cpu.hpp"

// Goes in front of a loop whose iterations touch no element of each other. clang finds out by
// itself, and would warn where it does not vectorize.
#if defined(__clang__)
#define HEDDLE_TURNS_APART
#else
#define HEDDLE_TURNS_APART _Pragma("GCC ivdep")
#endif

namespace heddle::detail {

template <class Loop>
__attribute__((target("avx2"), flatten)) void run_by_avx2(const Loop& loop) {
  loop();
}

template <class Loop>
__attribute__((target("avx2,fma"), flatten)) void run_by_avx2_fused(const Loop& loop) {
  loop();
}

/// True if a loop over scalars S has a copy for AVX2: long double has no vectors.
template <class S>
inline constexpr bool has_wide_copy = !std::is_same_v<S, long double>;

/// Runs `loop()` with AVX2 and FMA if the machine has them.
template <class S = double, class Loop>
void run_widely_fused(const Loop& loop) {
  if constexpr (has_wide_copy<S>) {
    has_avx2() ? run_by_avx2_fused(loop) : loop();
  } else {
    loop();
  }
}

/// Runs `loop()` with AVX2 but without fused operations if the machine has it: those would round
/// differently, so the bits are those of every x86-64 machine, and a build that checks itself has
/// one copy.
template <class S, class Loop>
void run_widely(const Loop& loop) {
  if constexpr (has_wide_copy<S> && !HEDDLE_ASSERTIONS) {
    has_avx2() ? run_by_avx2(loop) : loop();
  } else {
    loop();
  }
}

}  // namespace heddle::detail
