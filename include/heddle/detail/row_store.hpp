// Where a product on a CPU stores the sum of a row.
#pragma once

#include "heddle/detail/reduction.hpp"
#include "heddle/entries/encoded.hpp"
#include "heddle/entries/row_product.hpp"
#include "heddle/field.hpp"

namespace heddle::detail {

enum class RowResult : char {
  scaled,    // y = alpha A x + beta y
  dotted,    // y = A x, and Re <x, y>
  residual,  // y = b - A x, and |y|^2
};

/// A field that takes the sums of rows, and the scalar that it accumulates meanwhile. One type for
/// every result, so that code that takes it is compiled once.
template <class S>
struct RowStore {
  RowResult result;
  S* y;
  Offset entry_stride, component_stride;
  S alpha = 1, beta = 0;    // for `scaled`
  const S* with = nullptr;  // x for `dotted` or b for `residual`, laid out like y
  sum_t<S> partial = 0;

  static RowStore scaled(S alpha, S beta, const FieldView<S>& y) {
    return {RowResult::scaled, y.data, y.entry_stride, y.component_stride, alpha, beta};
  }
  static RowStore dotted(const FieldView<S>& y, const FieldView<const S>& x) {
    return {RowResult::dotted, y.data, y.entry_stride, y.component_stride, S(1), S(0), x.data};
  }
  static RowStore residual(const FieldView<S>& r, const FieldView<const S>& b) {
    return {RowResult::residual, r.data, r.entry_stride, r.component_stride, S(1), S(0), b.data};
  }

  template <class V>
  HEDDLE_INLINE void operator()(Index row, const V& sum) {
    switch (result) {
      case RowResult::scaled:
        return store<RowResult::scaled>(row, sum);
      case RowResult::dotted:
        return store<RowResult::dotted>(row, sum);
      case RowResult::residual:
        return store<RowResult::residual>(row, sum);
    }
  }

  template <RowResult known, class V>
  HEDDLE_INLINE void store(Index row, const V& sum) {
    S* const at = y + row * entry_stride;
    if constexpr (known == RowResult::scaled) {
      if (beta == S(0)) {
        for (int k = 0; k < sum.components; ++k)
          at[k * component_stride] = alpha * sum.component[k];
      } else {
        for (int k = 0; k < sum.components; ++k) {
          S& value = at[k * component_stride];
          value = alpha * sum.component[k] + beta * value;
        }
      }
    } else if constexpr (known == RowResult::dotted) {
      const S* const other = with + row * entry_stride;
      for (int k = 0; k < sum.components; ++k) {
        at[k * component_stride] = sum.component[k];
        partial += sum_t<S>(sum.component[k]) * other[k * component_stride];
      }
    } else {
      const S* const other = with + row * entry_stride;
      for (int k = 0; k < sum.components; ++k) {
        const auto difference =
            static_cast<typename V::scalar>(other[k * component_stride]) - sum.component[k];
        at[k * component_stride] = static_cast<S>(difference);
        partial += sum_t<S>(difference) * difference;
      }
    }
  }
};

/// Same for one known result. A product that decides at each row what to do takes 3 to 11% longer
/// if its matrix is in the cache or in 16 bits: the registers do not suffice for all results.
template <RowResult known, class S>
struct KnownRowStore : RowStore<S> {
  template <class V>
  HEDDLE_INLINE void operator()(Index row, const V& sum) {
    this->template store<known>(row, sum);
  }
};

/// Wraps one of these for a matrix in 16 bits: multiplies sums by the matrix's own scale.
template <class Store>
struct ScaledRows : Store {
  CodeWord scale;

  template <class V>
  HEDDLE_INLINE void operator()(Index row, V sum) {
    const auto by = scale_of_word<typename V::scalar>(scale);
    for (int k = 0; k < sum.components; ++k) sum.component[k] *= by;
    Store::operator()(row, sum);
  }
};

}  // namespace heddle::detail
