// Products of compressed rows of single real numbers on a CPU, four rows side by side, since the
// sum of one row waits for one entry after another. Each sum is that of one row's entries in their
// order, so that its bits are those of `product_rows`.
#pragma once

#include <algorithm>

#include "heddle/detail/index.hpp"
#include "heddle/detail/wide_loop.hpp"

namespace heddle::detail {

template <class S>
struct NumberRows {
  const Offset* offsets;
  const Index* column;
  const S* values;
};

/// Uses a fused operation if `is_fused`. This is explicit, since compilers would otherwise multiply
/// for several entries at once, which rounds before the sum does.
template <bool is_fused, class S>
HEDDLE_INLINE S add_term(S sum, S a, S x) {
  if constexpr (is_fused && std::is_same_v<S, float>) return __builtin_fmaf(a, x, sum);
  if constexpr (is_fused) return static_cast<S>(__builtin_fma(a, x, sum));
  return sum + a * x;
}

/// Sets `sums[k]` to the sum of row begin + k, for rows [begin, end).
template <bool is_fused, class S>
HEDDLE_INLINE void sum_rows_by(const NumberRows<S> a, const S* x, Index begin, Index end, S* sums) {
  constexpr int together = 4;
  const auto sum_of = [&](S sum, Offset from, Offset to) __attribute__((always_inline)) {
    for (Offset e = from; e < to; ++e) sum = add_term<is_fused>(sum, a.values[e], x[a.column[e]]);
    return sum;
  };
  Offset row = begin;
  for (; row + together <= end; row += together) {
    const Offset* const at = a.offsets + row;
    const Offset first = at[0], second = at[1], third = at[2], fourth = at[3], last = at[4];
    const Offset common =
        std::min(std::min(second - first, third - second), std::min(fourth - third, last - fourth));
    const S *const v0 = a.values + first, *const v1 = a.values + second;
    const S *const v2 = a.values + third, *const v3 = a.values + fourth;
    const Index *const c0 = a.column + first, *const c1 = a.column + second;
    const Index *const c2 = a.column + third, *const c3 = a.column + fourth;
    S s0 = 0, s1 = 0, s2 = 0, s3 = 0;
    for (Offset j = 0; j < common; ++j) {
      s0 = add_term<is_fused>(s0, v0[j], x[c0[j]]);
      s1 = add_term<is_fused>(s1, v1[j], x[c1[j]]);
      s2 = add_term<is_fused>(s2, v2[j], x[c2[j]]);
      s3 = add_term<is_fused>(s3, v3[j], x[c3[j]]);
    }
    *sums++ = sum_of(s0, first + common, second);
    *sums++ = sum_of(s1, second + common, third);
    *sums++ = sum_of(s2, third + common, fourth);
    *sums++ = sum_of(s3, fourth + common, last);
  }
  for (; row < end; ++row) *sums++ = sum_of(S(0), a.offsets[row], a.offsets[row + 1]);
}

template <class S>
__attribute__((target("avx2,fma"), flatten)) void sum_rows_avx2(const NumberRows<S>& a, const S* x,
                                                                Index begin, Index end, S* sums) {
  sum_rows_by<true>(a, x, begin, end, sums);
}

template <class S>
void sum_rows(const NumberRows<S>& a, const S* x, Index begin, Index end, S* sums) {
  has_avx2() ? sum_rows_avx2(a, x, begin, end, sums) : sum_rows_by<false>(a, x, begin, end, sums);
}

}  // namespace heddle::detail
