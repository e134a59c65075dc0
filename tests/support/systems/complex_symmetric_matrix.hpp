// Complex symmetric matrices: a_ji is the transpose of a_ij, without conjugation.
#pragma once

#include "support/random_matrix.hpp"

namespace heddle::test {

/// The diagonal outweighs the rest of its row, and is rotated by 27 degrees from the real axis.
template <class E>
CsrMatrix<E> random_complex_symmetric_matrix(Index rows, Index per_row, Generator& generator) {
  static_assert(E::ring == Ring::complex);
  auto matrix = random_positive_definite_matrix<E>(rows, per_row, generator);
  for (Index row = 0; row < rows; ++row) {
    for (Offset i = matrix.offsets()[static_cast<std::size_t>(row)];
         i < matrix.offsets()[static_cast<std::size_t>(row) + 1]; ++i) {
      const Index column = matrix.column()[static_cast<std::size_t>(i)];
      const E one = one_entry<E>();
      auto* const component = matrix.values().data() + i * E::components;
      for (int k = 0; k < E::components; k += 2) {
        if (column < row) component[k + 1] = -component[k + 1];
        if (column == row) component[k + 1] = one.component[k] * component[k] / 2;
      }
    }
  }
  return matrix;
}

}  // namespace heddle::test
