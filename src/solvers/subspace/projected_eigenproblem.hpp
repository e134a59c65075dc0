// The small eigenproblem of a LOBPCG iteration: A and M, projected onto vectors X, new directions W
// and the last directions P.
#pragma once

#include <algorithm>
#include <cmath>
#include <utility>
#include <vector>

#include "solvers/blocks/ring_eigenpairs.hpp"

namespace heddle::detail {

template <Ring R, class T>
struct ProjectedEigenpairs {
  std::vector<T> values;         // the smallest ones, ascending
  RingMatrix<R, T> vectors;      // C: the next vectors are [X W P] C; fewer columns: a breakdown
  RingMatrix<R, T> directions;   // Y: the next P = [X W P] Y, orthonormal to them
  bool left_directions = false;  // P depended on the rest, and took no part
};

/// The leading `size` rows and columns.
template <Ring R, class T>
RingMatrix<R, T> leading(const RingMatrix<R, T>& a, int size) {
  RingMatrix<R, T> part(size, size);
  for (int j = 0; j < size; ++j) {
    for (int i = 0; i < size; ++i) part(i, j) = a(i, j);
  }
  return part;
}

/// Indices of the next vectors that go on: those that are not mostly made of vectors that do not.
/// Ritz values may have changed places.
template <Ring R, class T>
std::vector<int> still_active(const RingMatrix<R, T>& vectors, int count,
                              const std::vector<int>& active) {
  std::vector<int> next;
  for (int j = 0; j < count; ++j) {
    T all = 0, at_rest = 0;
    for (int i = 0; i < vectors.rows(); ++i) {
      const T squared = squared_norm(vectors(i, j));
      all += squared;
      if (i < count && std::find(active.begin(), active.end(), i) == active.end()) {
        at_rest += squared;
      }
    }
    if (2 * at_rest <= all) next.push_back(j);
  }
  return next;
}

/// The part of the next vectors that lies along W and P, made orthonormal to all of them (Duersch,
/// Shao, Yang and Gu 2018, section 4.2; Hetmaniuk and Lehoucq 2006, section 3).
template <Ring R, class T>
RingMatrix<R, T> next_directions(const RingMatrix<R, T>& gram, const RingMatrix<R, T>& vectors,
                                 int count, const std::vector<int>& active, T drop) {
  const std::vector<int> going_on = still_active(vectors, count, active);
  RingMatrix<R, T> directions(gram.rows(), static_cast<int>(going_on.size()));
  for (int j = 0; j < directions.columns(); ++j) {
    const int from = going_on[static_cast<std::size_t>(j)];
    T squared = 0;
    for (int i = count; i < gram.rows(); ++i) {
      directions(i, j) = vectors(i, from);
      squared += squared_norm(directions(i, j));
    }
    const T factor = squared > 0 ? 1 / std::sqrt(squared) : T(0);
    for (int i = count; i < gram.rows(); ++i) scale(directions(i, j), factor);
  }
  for (int round = 0; round < 2; ++round) {
    subtract(directions, vectors * adjoint_product(vectors, gram * directions));
  }
  const RingMatrix<R, T> products = adjoint_product(directions, gram * directions);
  return directions * orthonormal_columns(products, drop).to;
}

/// Solves for S = [X W P], given the finite `gram` = S* M S and `energy` = S* A S. X has `count`
/// vectors, of which `active` go on; the leading `without` of S are X and W.
template <Ring R, class T>
ProjectedEigenpairs<R, T> solve_projected(RingMatrix<R, T> gram, RingMatrix<R, T> energy, int count,
                                          const std::vector<int>& active, int without, T drop) {
  // S was made orthonormal: an eigenvalue that is far from 1 says that rounding has undone it.
  constexpr T well_conditioned = T(0.01);
  ProjectedEigenpairs<R, T> result;
  const int size = gram.rows();
  OrthonormalColumns<R, T> basis = orthonormal_columns(gram, drop);
  if (without < size && basis.least < well_conditioned) {
    result.left_directions = true;
    gram = leading(gram, without);
    energy = leading(energy, without);
    basis = orthonormal_columns(gram, drop);
  }
  RingMatrix<R, T> projected = adjoint_product(basis.to, energy * basis.to);
  make_hermitian(projected);
  RingEigenpairs<R, T> pairs = eigenpairs_of(std::move(projected));
  const int found = std::min(count, pairs.vectors.columns());
  result.vectors = basis.to * pairs.vectors.columns(0, found);
  result.values = std::move(pairs.values);
  result.values.resize(static_cast<std::size_t>(found));
  if (found == count) {
    result.directions = next_directions(gram, result.vectors, count, active, drop);
  }
  return result;
}

}  // namespace heddle::detail
