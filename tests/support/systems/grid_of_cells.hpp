// A matrix that low-precision copies hold exactly, and that takes many iterations.
#pragma once

#include <span>
#include <utility>
#include <vector>

#include "heddle/csr.hpp"

namespace heddle::test {

/// The Laplacian of a grid of n x n cells, plus `ground(row)` on its diagonal.
template <class E, class Ground>
CsrMatrix<E> grid_of_cells(Index n, const Ground& ground) {
  Array<Offset> offsets(static_cast<std::size_t>(n * n) + 1);
  std::vector<Index> column;
  std::vector<double> value;
  const auto add = [&](Index j, double a) {
    column.push_back(j);
    value.push_back(a);
  };
  for (Index row = 0; row < n * n; ++row) {
    const Index i = row / n, j = row % n;
    if (i > 0) add(row - n, -1);
    if (j > 0) add(row - 1, -1);
    add(row, 4 + ground(row));
    if (j + 1 < n) add(row + 1, -1);
    if (i + 1 < n) add(row + n, -1);
    offsets.data()[row + 1] = static_cast<Offset>(column.size());
  }
  Array<Index> columns{std::span<const Index>(column)};
  Array<double> values(value.size() * E::components);
  for (std::size_t k = 0; k < value.size(); ++k) values.data()[k * E::components] = value[k];
  return {n * n, n * n, std::move(offsets), std::move(columns), std::move(values)};
}

}  // namespace heddle::test
