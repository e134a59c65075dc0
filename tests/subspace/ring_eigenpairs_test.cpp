// Runs in the release.
// Small dense Hermitian matrices over each ring, compared with Eigen on the real expansion.
#include "solvers/blocks/ring_eigenpairs.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <string>
#include <vector>

#include "solvers/subspace/projected_eigenproblem.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/dense_factors.hpp"

namespace heddle::test::ring_eigenpairs {
namespace {

using detail::RingMatrix;

template <Ring R, class T>
RingMatrix<R, T> random_ring_matrix(int rows, int columns, Generator& generator) {
  RingMatrix<R, T> a(rows, columns);
  for (int j = 0; j < columns; ++j) {
    for (int i = 0; i < rows; ++i) a(i, j) = random_components<Coefficient<R, T>>(generator);
  }
  return a;
}

/// Each number as the matrix of its left multiplication.
template <Ring R, class T>
Eigen::MatrixXd expanded(const RingMatrix<R, T>& a) {
  constexpr int size = ring_size(R);
  Eigen::MatrixXd dense(a.rows() * size, a.columns() * size);
  for (int i = 0; i < a.rows(); ++i) {
    for (int j = 0; j < a.columns(); ++j) {
      for (int c = 0; c < size; ++c) {
        Coefficient<R, T> unit{};
        unit.component[c] = 1;
        const Coefficient<R, T> image = a(i, j) * unit;
        for (int k = 0; k < size; ++k) {
          dense(i * size + k, j * size + c) = static_cast<double>(image.component[k]);
        }
      }
    }
  }
  return dense;
}

template <Ring R, class T>
void expect_eigenpairs(RingMatrix<R, T> a, double rounding) {
  detail::make_hermitian(a);
  constexpr int size = ring_size(R);
  const auto n = static_cast<Eigen::Index>(a.rows());
  const Eigen::MatrixXd dense = expanded(a);
  const auto pairs = detail::eigenpairs_of(a);
  const Eigen::VectorXd expected = eigenvalues_of(dense);
  const Eigen::MatrixXd v = expanded(pairs.vectors);
  Eigen::VectorXd values(n * size);
  for (Eigen::Index k = 0; k < n * size; ++k) {
    values[k] = static_cast<double>(pairs.values[static_cast<std::size_t>(k / size)]);
  }
  const double norm = 1 + dense.norm();
  EXPECT_LE((values - expected).norm(), rounding * norm);
  EXPECT_LE((dense * v - v * values.asDiagonal()).norm(), rounding * norm);
  EXPECT_LE((v.transpose() * v - Eigen::MatrixXd::Identity(n * size, n * size)).norm(),
            rounding * norm);
}

template <Ring R, class T>
void expect_all(double rounding) {
  Seed seed(9000);
  for (const int n : {1, 2, 3, 7, 16, 60}) {
    SCOPED_TRACE(n);
    const auto a = random_ring_matrix<R, T>(n, n, seed.generator);
    expect_eigenpairs(a, rounding);
    // The rank is at most 2, so that nearly all eigenvalues are 0.
    const auto b = random_ring_matrix<R, T>(2, n, seed.generator);
    expect_eigenpairs(detail::adjoint_product(b, b), rounding);
    expect_eigenpairs(RingMatrix<R, T>(n, n), rounding);
  }
}

TEST(RingEigenpairs, AgreeWithEigen) {
  expect_all<Ring::real, double>(2e-14);
  expect_all<Ring::complex, double>(2e-14);
  expect_all<Ring::quaternion, double>(2e-14);
  expect_all<Ring::quaternion, long double>(2e-14);  // the reference is in double
}

TEST(RingEigenpairs, OrthonormalColumnsLeaveOutWhatDepends) {
  constexpr Ring R = Ring::quaternion;
  using Matrix = RingMatrix<R, double>;
  Seed seed(9100);
  for (const int n : {1, 2, 5, 12}) {
    SCOPED_TRACE(n);
    // n independent columns of very different lengths, two combinations of them, and a zero column.
    const Matrix own = random_ring_matrix<R, double>(40, n, seed.generator);
    const Matrix mixed = own * random_ring_matrix<R, double>(n, 2, seed.generator);
    Matrix all(40, n + 3);
    for (int i = 0; i < 40; ++i) {
      for (int j = 0; j < n + 2; ++j) {
        all(i, j) = j < n ? own(i, j) : mixed(i, j - n);
        scale(all(i, j), std::pow(10.0, 3 * j));
      }
    }
    const auto found = detail::orthonormal_columns(detail::adjoint_product(all, all), 1e-12);
    EXPECT_FALSE(found.is_negative);
    ASSERT_EQ(found.to.columns(), n);
    EXPECT_LE(found.least, 1e-12);
    Matrix gram = detail::adjoint_product(all * found.to, all * found.to);
    for (int i = 0; i < n; ++i) gram(i, i).component[0] -= 1;
    EXPECT_LE(expanded(gram).norm(), 1e-10);
  }
  Matrix indefinite(2, 2);
  indefinite(0, 0).component[0] = indefinite(1, 1).component[0] = 1;
  indefinite(0, 1).component[2] = 2;
  indefinite(1, 0).component[2] = -2;
  EXPECT_TRUE(detail::orthonormal_columns(indefinite, 1e-12).is_negative);
}

/// The Gram matrix of almost orthonormal vectors: Cholesky's factor suffices, and bounds the least
/// eigenvalue from below.
template <Ring R>
void expect_orthonormal_near_identity() {
  Seed seed(77);
  for (const int n : {1, 2, 7, 24}) {
    SCOPED_TRACE(n);
    auto basis = random_ring_matrix<R, double>(n, n, seed.generator);
    for (int j = 0; j < n; ++j) {
      for (int i = 0; i < n; ++i) {
        scale(basis(i, j), i == j ? 0.0 : 0.1 / n);
        if (i == j) basis(i, j).component[0] = std::pow(10.0, j % 5);
      }
    }
    const auto gram = detail::adjoint_product(basis, basis);
    const auto found = detail::orthonormal_columns(gram, 1e-12);
    EXPECT_FALSE(found.is_negative);
    ASSERT_EQ(found.to.columns(), n);
    EXPECT_GT(found.least, 0.5);
    auto product = detail::adjoint_product(found.to, gram * found.to);
    for (int i = 0; i < n; ++i) product(i, i).component[0] -= 1;
    EXPECT_LE(expanded(product).norm(), 1e-13 * n);
  }
}
TEST(OrthonormalColumns, OfNearlyOrthonormalVectors) {
  expect_orthonormal_near_identity<Ring::real>();
  expect_orthonormal_near_identity<Ring::complex>();
  expect_orthonormal_near_identity<Ring::quaternion>();
}

/// The vector that continues now has the larger Ritz value, and its direction along W stays.
TEST(ProjectedEigenproblem, KeepsDirectionsOfVectorsThatChangePlaces) {
  using Matrix = RingMatrix<Ring::real, double>;
  Matrix gram(3, 3), energy(3, 3);
  for (int i = 0; i < 3; ++i) gram(i, i).component[0] = 1;
  energy(0, 0).component[0] = 2;
  energy(1, 1).component[0] = 1;
  energy(2, 2).component[0] = 3;
  energy(0, 2).component[0] = energy(2, 0).component[0] = 0.5;
  const auto found = detail::solve_projected(gram, energy, 2, {0}, 3, 1e-13);
  EXPECT_NEAR(found.values[0], 1, 1e-14);
  ASSERT_EQ(found.directions.columns(), 1);
  EXPECT_NEAR(std::abs(found.directions(1, 0).component[0]), 0, 1e-14);
  EXPECT_GT(std::abs(found.directions(2, 0).component[0]), 0.5);
}

}  // namespace
}  // namespace heddle::test::ring_eigenpairs
