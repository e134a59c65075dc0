// Definite matrices with arbitrarily small smallest eigenvalues.
#pragma once

#include <Eigen/Dense>
#include <vector>

#include "heddle/csr.hpp"
#include "support/random_matrix.hpp"
#include "systems.hpp"

namespace heddle::test {

/// The Laplacian of a random connected graph over units of the entry's ring, plus `shift` on the
/// diagonal. The Laplacian has a null space of one dimension over the ring: an edge i, j
/// contributes |conj(g_i) x_i - conj(g_j) x_j|^2.
template <class E>
CsrMatrix<E> random_gauge_matrix(Index rows, double shift, Generator& generator) {
  Tiles<E> tiles(rows);
  std::vector<Eigen::MatrixXd> units;
  for (Index i = 0; i < rows; ++i) units.push_back(random_tile<E>(generator, 1));
  const auto one = Eigen::MatrixXd::Identity(Tiles<E>::size, Tiles<E>::size);
  const auto join = [&](Index i, Index j) {
    if (i == j) return;
    const auto &left = units[static_cast<std::size_t>(i)],
               &right = units[static_cast<std::size_t>(j)];
    tiles.at(i, i) += one;
    tiles.at(j, j) += one;
    tiles.at(i, j) -= left * right.transpose();
    tiles.at(j, i) -= right * left.transpose();
  };
  for (Index i = 0; i < rows; ++i) {
    tiles.at(i, i) += shift * one;
    join(i, (i + 1) % rows);
    join(i, random_between(0, rows - 1, generator));
  }
  return tiles.assemble();
}

}  // namespace heddle::test
