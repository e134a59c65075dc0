// What a product on a CPU does with the sum of a row.
#pragma once

#include "heddle/detail/reduction.hpp"
#include "heddle/entries/encoded.hpp"
#include "heddle/entries/row_product.hpp"

namespace heddle::detail {

// Each returns nothing and keeps its partial sum, if it has one.

template <class S>
struct StoreScaled {  // y = alpha A x + beta y
  S alpha, beta;
  S* y;
  Offset entry_stride, component_stride;

  template <class V>
  HEDDLE_INLINE void operator()(Index row, const V& sum) {
    S* at = y + row * entry_stride;
    if (beta == S(0)) {
      for (int k = 0; k < sum.components; ++k) at[k * component_stride] = alpha * sum.component[k];
    } else {
      for (int k = 0; k < sum.components; ++k) {
        S& value = at[k * component_stride];
        value = alpha * sum.component[k] + beta * value;
      }
    }
  }
  static sum_t<S> partial() { return 0; }
};

template <class S>
struct StoreAndDot {  // y = A x, and Re <x, y>
  S* y;
  const S* x;
  Offset entry_stride, component_stride;
  sum_t<S> dot = 0;

  template <class V>
  HEDDLE_INLINE void operator()(Index row, const V& sum) {
    S* at = y + row * entry_stride;
    const S* with = x + row * entry_stride;
    for (int k = 0; k < sum.components; ++k) {
      at[k * component_stride] = sum.component[k];
      dot += sum_t<S>(sum.component[k]) * with[k * component_stride];
    }
  }
  sum_t<S> partial() const { return dot; }
};

template <class S>
struct StoreResidual {  // r = b - A x, and |r|^2
  S* r;
  const S* b;
  Offset entry_stride, component_stride;
  sum_t<S> squared_norm = 0;

  template <class V>
  HEDDLE_INLINE void operator()(Index row, const V& sum) {
    S* at = r + row * entry_stride;
    const S* from = b + row * entry_stride;
    for (int k = 0; k < sum.components; ++k) {
      const auto difference =
          static_cast<typename V::scalar>(from[k * component_stride]) - sum.component[k];
      at[k * component_stride] = static_cast<S>(difference);
      squared_norm += sum_t<S>(difference) * difference;
    }
  }
  sum_t<S> partial() const { return squared_norm; }
};

/// In front of one of these, of a matrix in 16 bits: sums in the matrix's own scale.
template <class Finish>
struct ScaledRows {
  Finish finish;
  CodeWord scale;

  template <class V>
  HEDDLE_INLINE void operator()(Index row, V sum) {
    const auto by = scale_of_word<typename V::scalar>(scale);
    for (int k = 0; k < sum.components; ++k) sum.component[k] *= by;
    finish(row, sum);
  }
  auto partial() const { return finish.partial(); }
};

}  // namespace heddle::detail
