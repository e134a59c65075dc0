// A matrix with equal parts, and the comparison of two trees of one matrix.
#pragma once

#include <algorithm>
#include <vector>

#include "hierarchical/trees.hpp"

namespace heddle::test {

/// Two kinds of blocks of `period` rows along three block diagonals, and the last one cut off.
template <class E>
CsrMatrix<E> periodic(Index rows, Index columns, Index period, Generator& generator) {
  EntryMapOf<E> entries;
  std::vector<EntryMapOf<E>> blocks;
  for (const int per_row : {2, 7}) {
    blocks.push_back(map_of(
        random_matrix<E>({.rows = period, .columns = period, .per_row = per_row}, generator)));
  }
  for (Index i = 0; i * period < rows; ++i) {
    for (Index j = std::max(0, i - 1); j <= i + 1; ++j) {
      for (const auto& [place, entry] : blocks[i == j ? 1 : 0]) {
        const Index row = i * period + place.first, column = j * period + place.second;
        if (row < rows && column < columns) entries[{row, column}] = entry;
      }
    }
  }
  return matrix_of(rows, columns, entries);
}

/// Both have the same entries, and products of the same bits.
template <class E>
void expect_same_matrix(const HierarchicalMatrix<E>& computed,
                        const HierarchicalMatrix<E>& expected, Generator& generator) {
  using S = vector_scalar_t<E>;
  expect_same_bits(computed.to_csr(), expected.to_csr());
  const auto expect = [&](const LinearOperator<S>& A, const LinearOperator<S>& B) {
    const auto x = random_scalars<S>(Offset(A.columns()) * A.column_components(), generator);
    const std::vector<S> y(static_cast<std::size_t>(Offset(A.rows()) * A.row_components()));
    EXPECT_EQ(product<S>(A, 1, x, 0, y), product<S>(B, 1, x, 0, y));
  };
  expect(computed, expected);
  if constexpr (has_adjoint<E>) expect(*computed.adjoint(), *expected.adjoint());
}

}  // namespace heddle::test
