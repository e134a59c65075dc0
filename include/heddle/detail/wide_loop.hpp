// Loops over elements that compilers make vectors of, by the instructions that a CPU has.
#pragma once

#include "heddle/detail/product_cpu.hpp"

// In front of a loop whose turns touch no element of each other.
#if defined(__clang__)
#define HEDDLE_TURNS_APART _Pragma("clang loop vectorize(assume_safety)")
#else
#define HEDDLE_TURNS_APART _Pragma("GCC ivdep")
#endif

namespace heddle::detail {

template <class Loop>
__attribute__((target("avx2"), flatten)) void run_by_avx2(const Loop& loop) {
  loop();
}

/// `loop()`, by AVX2 without fused operations where the machine has it: they would round otherwise,
/// so the bits are those of every x86-64 machine.
template <class Loop>
void run_widely(const Loop& loop) {
  has_avx2() ? run_by_avx2(loop) : loop();
}

}  // namespace heddle::detail
