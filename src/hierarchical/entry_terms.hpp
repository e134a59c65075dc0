// Terms of sums of entries by their scalars: each operation rounds separately, as on a CPU without
// fused operations, so that a GPU makes the same bits.
#pragma once

#include "heddle/entries/slots.hpp"

namespace heddle::cuda {

#ifdef __CUDA_ARCH__
__device__ inline float rounded_product(float a, float b) { return __fmul_rn(a, b); }
__device__ inline double rounded_product(double a, double b) { return __dmul_rn(a, b); }
__device__ inline float rounded_sum(float a, float b) { return __fadd_rn(a, b); }
__device__ inline double rounded_sum(double a, double b) { return __dadd_rn(a, b); }
#else
template <class S>
HEDDLE_INLINE S rounded_product(S a, S b) {
  return a * b;
}
template <class S>
HEDDLE_INLINE S rounded_sum(S a, S b) {
  return a + b;
}
#endif

/// factor a, or factor a*, by components.
template <class S>
struct EntryTerm {
  S real, imaginary;
  bool is_complex;
  const int* adjoint;  // like `EntrySum::adjoint`, or null

  /// Where a component comes from.
  struct Source {
    int at;
    bool is_negative;
  };
  HEDDLE_INLINE Source source(int k) const {
    if (adjoint == nullptr) return {k, false};
    const int of = adjoint[k];
    return of < 0 ? Source{-of - 1, true} : Source{of - 1, false};
  }
  HEDDLE_INLINE S component(const S* entry, int k) const {
    const Source from = source(k);
    return from.is_negative ? -entry[from.at] : entry[from.at];
  }
  HEDDLE_INLINE S operator()(const S* entry, int k) const {
    return of_component(component(entry, k), entry, k);
  }
  /// Same for a component that is already loaded, from its source.
  HEDDLE_INLINE S of_loaded(S loaded, const Source& from, const S* entry, int k) const {
    return of_component(from.is_negative ? -loaded : loaded, entry, k);
  }

 private:
  HEDDLE_INLINE S of_component(S own, const S* entry, int k) const {
    if (!is_complex) return rounded_product(own, real);
    const S other = component(entry, k ^ 1);
    if (k % 2 == 0) {
      return rounded_sum(rounded_product(own, real), -rounded_product(other, imaginary));
    }
    return rounded_sum(rounded_product(other, imaginary), rounded_product(own, real));
  }
};

}  // namespace heddle::cuda
