#pragma once

#include <utility>

#include "heddle/csr.hpp"

namespace heddle::test {

/// The same matrix in floats.
template <class E>
auto in_floats(const CsrMatrix<E>& matrix) {
  using F = typename E::template with_scalar<float>;
  Array<float> values(matrix.values().size());
  for (std::size_t i = 0; i < values.size(); ++i) {
    values[i] = static_cast<float>(matrix.values()[i]);
  }
  return CsrMatrix<F>(matrix.rows(), matrix.columns(), Array<Offset>(matrix.offsets().span()),
                      Array<Index>(matrix.column().span()), std::move(values));
}

}  // namespace heddle::test
