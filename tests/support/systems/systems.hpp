// Small linear systems whose conditioning is known by construction, and their real expansions.
#pragma once

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <Eigen/Sparse>
#include <cmath>
#include <map>
#include <random>
#include <string>
#include <vector>

#include "heddle/field.hpp"
#include "heddle/operator.hpp"
#include "support/rare_entries.hpp"

namespace heddle::test {

using Generator = std::mt19937_64;

inline double uniform(Generator& generator, double from = -1, double to = 1) {
  return std::uniform_real_distribution<double>(from, to)(generator);
}

/// An entry as the dense matrix that acts on the components of a vector entry.
template <class E>
Eigen::MatrixXd tile_of(const E& entry) {
  using V = vector_entry_t<E>;
  Eigen::MatrixXd tile(result_entry_t<E>::components, V::components);
  for (int j = 0; j < V::components; ++j) {
    V unit = zero_vector<V>();
    unit.component[j] = 1;
    auto image = zero_vector<result_entry_t<E>>();
    multiply_add(image, entry, unit);
    for (int i = 0; i < tile.rows(); ++i) tile(i, j) = static_cast<double>(image.component[i]);
  }
  return tile;
}

/// The entry that a tile represents, read from its first column, or from all of it for blocks.
template <class E>
E entry_of(const Eigen::MatrixXd& tile) {
  E entry{};
  if constexpr (requires { E::block_rows; }) {
    constexpr int size = E::components / (E::block_rows * E::block_columns);
    for (int k = 0; k < E::components; ++k) {
      const int element = k / size;
      entry.component[k] = static_cast<stored_scalar_t<E>>(
          tile(element / E::block_columns * size + k % size, element % E::block_columns * size));
    }
  } else {
    for (int k = 0; k < E::components; ++k) {
      entry.component[k] = static_cast<stored_scalar_t<E>>(tile(k, 0));
    }
  }
  return entry;
}

/// A square matrix under assembly, as tiles: rows of column -> tile of `size` x `size` numbers.
struct TileRows {
  int size;
  std::vector<std::map<Index, Eigen::MatrixXd>> rows;

  TileRows(int size, Index n) : size(size), rows(static_cast<std::size_t>(n)) {
    for (Index i = 0; i < n; ++i) at(i, i);  // every row has its diagonal entry
  }
  Index count() const { return static_cast<Index>(rows.size()); }
  Eigen::MatrixXd& at(Index i, Index j);
};

template <class E>
CsrMatrix<E> assemble(const TileRows& tiles) {
  std::vector<Offset> offsets{0};
  std::vector<Index> columns;
  std::vector<stored_scalar_t<E>> values;
  for (const auto& row : tiles.rows) {
    for (const auto& [column, tile] : row) {
      columns.push_back(column);
      const E entry = entry_of<E>(tile);
      values.insert(values.end(), entry.component, entry.component + E::components);
    }
    offsets.push_back(static_cast<Offset>(columns.size()));
  }
  using Offsets = std::span<const Offset>;
  return CsrMatrix<E>(tiles.count(), tiles.count(), Array<Offset>(Offsets(offsets)),
                      Array<Index>(std::span<const Index>(columns)),
                      Array<stored_scalar_t<E>>(std::span<const stored_scalar_t<E>>(values)));
}

/// The same for entries E.
template <class E>
struct Tiles : TileRows {
  static constexpr int size = vector_entry_t<E>::components;
  explicit Tiles(Index n) : TileRows(size, n) {}
  CsrMatrix<E> assemble() const { return test::assemble<E>(*this); }
};

/// Components uniform in [-1, 1], scaled to the given Frobenius norm of the tile per column.
template <class E>
Eigen::MatrixXd random_tile(Generator& generator, double norm) {
  E entry;
  for (auto& c : entry.component) c = static_cast<stored_scalar_t<E>>(uniform(generator));
  Eigen::MatrixXd tile = tile_of(entry);
  const double columns = static_cast<double>(tile.cols());
  return tile * (norm * std::sqrt(columns) / tile.norm());
}

/// A square matrix with |A^-1| <= 1 / `shift`, here as `inverse_norm`.
template <class E>
struct System {
  CsrMatrix<E> matrix;
  double inverse_norm;
};

/// `random_tile` of some entry, with a given norm.
using TileMaker = Eigen::MatrixXd (*)(Generator& generator, double norm);

/// S (B* B + shift) S. Each row of B joins two rows of a random graph, [1, -u], and the real
/// diagonal S >= 1 makes Jacobi worthwhile: Hermitian, positive definite. `skew` > 0 adds random
/// skew-Hermitian entries of up to that norm, which leave |A^-1| <= 1 / shift.
TileRows random_tiles(int size, TileMaker tile, Index n, int edges_per_row, double shift,
                      double skew, Generator& generator);
template <class E>
System<E> random_system(Index n, int edges_per_row, double shift, double skew,
                        Generator& generator) {
  return {assemble<E>(random_tiles(Tiles<E>::size, random_tile<E>, n, edges_per_row, shift, skew,
                                   generator)),
          1 / shift};
}

/// Random off-diagonal entries with a diagonal that outweighs rows and columns by `shift`: also for
/// entries without an adjoint.
TileRows dominant_tiles(int size, TileMaker tile, Index n, int entries_per_row, double shift,
                        Generator& generator);
template <class E>
System<E> dominant_system(Index n, int entries_per_row, double shift, Generator& generator) {
  return {assemble<E>(
              dominant_tiles(Tiles<E>::size, random_tile<E>, n, entries_per_row, shift, generator)),
          1 / shift};
}

/// A system that is not Hermitian, for any entry.
template <class E>
System<E> general_system(Index n, Generator& generator) {
  if constexpr (has_adjoint<E>) {
    return random_system<E>(n, 3, 0.2, 0.6, generator);
  } else {
    return dominant_system<E>(n, 4, 0.2, generator);
  }
}

/// A sparse matrix of the nonzero numbers of `dense`, and of its whole diagonal.
template <class S = double>
CsrMatrix<real<S>> from_dense(const Eigen::MatrixXd& dense) {
  TileRows tiles(1, static_cast<Index>(dense.rows()));
  for (Index i = 0; i < dense.rows(); ++i) {
    for (Index j = 0; j < dense.cols(); ++j) {
      if (dense(i, j) != 0) tiles.at(i, j)(0, 0) = dense(i, j);
    }
  }
  return assemble<real<S>>(tiles);
}
inline Eigen::MatrixXd random_dense(Index n, Generator& generator) {
  Eigen::MatrixXd dense(n, n);
  for (double& value : dense.reshaped()) value = uniform(generator);
  return dense;
}

/// The Laplacian of a connected random graph: the sum over edges (i, j) of B* B with B = [1 at i,
/// -u at j], where u = q_i q_j^-1 makes the entries q_i a null vector. Returned with q, one unit
/// entry a row.
TileRows laplacian_tiles(const std::vector<Eigen::MatrixXd>& q, int edges_per_row,
                         Generator& generator);
template <class E>
std::pair<CsrMatrix<E>, Field<E>> random_laplacian(Index n, int edges_per_row,
                                                   Generator& generator) {
  Field<E> null_vector(n);
  std::vector<Eigen::MatrixXd> q;
  for (Index i = 0; i < n; ++i) {
    q.push_back(random_tile<E>(generator, 1));
    const E entry = entry_of<E>(q.back());
    for (int k = 0; k < E::components; ++k) null_vector.view().at(i, k) = entry.component[k];
  }
  return {assemble<E>(laplacian_tiles(q, edges_per_row, generator)), std::move(null_vector)};
}

/// The real expansion of the stored matrix, in T.
template <class T, class E>
Eigen::SparseMatrix<T, Eigen::RowMajor> expansion(const CsrMatrix<E>& matrix) {
  constexpr int R = result_entry_t<E>::components, C = vector_entry_t<E>::components;
  std::vector<Eigen::Triplet<T>> triplets;
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset i = matrix.offsets()[row]; i < matrix.offsets()[row + 1]; ++i) {
      const Eigen::MatrixXd tile = tile_of(matrix.entry(i));
      for (int r = 0; r < R; ++r) {
        for (int c = 0; c < C; ++c) {
          triplets.emplace_back(row * R + r, matrix.column()[i] * C + c,
                                static_cast<T>(tile(r, c)));
        }
      }
    }
  }
  Eigen::SparseMatrix<T, Eigen::RowMajor> expanded(matrix.rows() * R, matrix.columns() * C);
  expanded.setFromTriplets(triplets.begin(), triplets.end());
  return expanded;
}

template <class T>
using Vector = Eigen::Matrix<T, Eigen::Dynamic, 1>;

/// All components of a field in the user's order.
template <class T, class E>
Vector<T> components_of(const Field<E>& field) {
  constexpr int K = Field<E>::entry::components;
  Vector<T> all(static_cast<Eigen::Index>(field.size()) * K);
  for (Index position = 0; position < field.size(); ++position) {
    const Index row = field.basis() ? field.basis()->user_row(position) : position;
    for (int k = 0; k < K; ++k) all[row * K + k] = static_cast<T>(field.view().at(position, k));
  }
  return all;
}

/// A x, rounded to the scalar type of fields.
template <class E>
Field<E> image_of(const CsrMatrix<E>& matrix, const Field<E>& x) {
  const Vector<long double> y = expansion<long double>(matrix) * components_of<long double>(x);
  Field<E> image(x.size());
  for (std::size_t i = 0; i < image.scalars().size(); ++i) {
    image.scalars()[i] = static_cast<typename Field<E>::scalar>(y[static_cast<Eigen::Index>(i)]);
  }
  return image;
}

/// Components uniform in [-scale, scale], independent of layout and basis.
template <class E>
void fill_randomly(Field<E>& field, Generator& generator, double scale = 1) {
  for (Index row = 0; row < field.size(); ++row) {
    const Index position = field.basis() ? field.basis()->position(row) : row;
    for (int k = 0; k < Field<E>::entry::components; ++k) {
      field.view().at(position, k) =
          static_cast<typename Field<E>::scalar>(scale * uniform(generator));
    }
  }
}
template <class E>
Field<E> random_vector(Index n, Generator& generator, double scale = 1) {
  Field<E> field(n);
  fill_randomly(field, generator, scale);
  return field;
}

/// |b - A x| in long double, computed from the stored values.
template <class E>
long double true_residual(const CsrMatrix<E>& matrix, const Field<E>& b, const Field<E>& x) {
  const Vector<long double> r = components_of<long double>(b) -
                                expansion<long double>(matrix) * components_of<long double>(x);
  return r.stableNorm();
}

template <class E>
std::vector<typename Field<E>::scalar> bits_of(const Field<E>& field) {
  return {field.scalars().begin(), field.scalars().end()};
}

template <class S>
constexpr double default_tolerance = std::is_same_v<S, float> ? 1e-5 : 1e-10;

/// Every built-in entry, for typed tests.
template <class S>
using HermitianEntries =
    ::testing::Types<real<S>, complex<S>, quaternion<S>, block<S, 2, 2>, block<S, 3, 3>,
                     block<S, 4, 4>, block<S, 6, 6>, block<complex<S>, 3, 3>>;
template <class S>
using AllEntries =
    ::testing::Types<real<S>, complex<S>, quaternion<S>, dual_quaternion<S>, block<S, 2, 2>,
                     block<S, 3, 3>, block<S, 4, 4>, block<S, 6, 6>, block<complex<S>, 3, 3>>;

}  // namespace heddle::test
