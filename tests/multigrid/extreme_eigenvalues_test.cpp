// Runs in the release.
// The ends of a spectrum by the Lanczos method, compared with Eigen's eigenvalues.
#include "solvers/operators/extreme_eigenvalues.hpp"

#include <gtest/gtest.h>

#include <cmath>

#include "heddle/jacobi.hpp"
#include "solvers/operators/operator_field.hpp"
#include "support/few_entries.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::extreme_eigenvalues_test {
namespace {

template <class E>
detail::RitzValues<double> found_in(const Operator<E>& A, const Preconditioner<double>* M,
                                    int steps) {
  const auto current = detail::row_field_of<double>(A), before = detail::row_field_of<double>(A),
             image = detail::row_field_of<double>(A), scaled = detail::row_field_of<double>(A);
  Reduction<double> reduction(A.rows());
  return detail::extreme_ritz_values<double>(A, M, steps,
                                             {current.view, before.view, image.view, scaled.view},
                                             reduction, A.device().stream());
}

/// Eigenvalues of the expansion, scaled by its diagonal tiles with `jacobi`.
template <class E>
Eigen::VectorXd eigenvalues(const CsrMatrix<E>& matrix, bool jacobi) {
  const Eigen::MatrixXd A = expansion<double>(matrix);
  Eigen::MatrixXd M = Eigen::MatrixXd::Identity(A.rows(), A.cols());
  constexpr int K = vector_entry_t<E>::components;
  for (Eigen::Index i = 0; jacobi && i < A.rows(); i += K) {
    M.block(i, i, K, K) = A.block(i, i, K, K);
  }
  return eigenvalues_of(A, M);
}

template <class E>
class ExtremeEigenvalues : public ::testing::Test {};
using Entries =
    ::testing::Types<real<double>, complex<double>, quaternion<double>, block<double, 3, 3>>;
TYPED_TEST_SUITE(ExtremeEigenvalues, FewOf<Entries>);

TYPED_TEST(ExtremeEigenvalues, OfSmallMatricesAreExact) {
  using E = TypeParam;
  Generator generator(1);
  constexpr Index n = 4;
  const CsrMatrix<E> matrix = random_system<E>(n, 2, 0.1, 0, generator).matrix;
  const Operator<E> A(matrix, parse_plan("pJDS"));
  const Jacobi jacobi(A);
  for (const bool scaled : {true, false}) {
    const Eigen::VectorXd expected = eigenvalues(matrix, scaled);
    const auto found = found_in(A, scaled ? &jacobi : nullptr, 12);
    EXPECT_TRUE(found.is_positive);
    EXPECT_NEAR(found.smallest, expected.minCoeff(), 1e-10 * expected.maxCoeff());
    EXPECT_NEAR(found.largest, expected.maxCoeff(), 1e-10 * expected.maxCoeff());
  }
}

TYPED_TEST(ExtremeEigenvalues, OfLargerOnesLieInsideAndNearTheUpperEnd) {
  using E = TypeParam;
  for (unsigned seed = 1; seed <= 10; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    const CsrMatrix<E> matrix = random_system<E>(70, 3, 0.1, 0, generator).matrix;
    const Operator<E> A(matrix, parse_plan("CSR"));
    const Jacobi jacobi(A);
    for (const bool scaled : {true, false}) {
      const Eigen::VectorXd exact = eigenvalues(matrix, scaled);
      const double largest = exact.maxCoeff();
      const auto found = found_in(A, scaled ? &jacobi : nullptr, 10);
      EXPECT_EQ(found.steps, 10);
      EXPECT_LE(found.largest, largest * (1 + 1e-12));
      EXPECT_GE(found.largest, largest / 1.1) << "what Chebyshev's safety factor makes up for";
      EXPECT_GE(found.smallest, exact.minCoeff() - 1e-12 * largest);
      EXPECT_GT(found.last_beta, 0);
      // An eigenvalue lies within this distance.
      EXPECT_LE((exact.array() - found.largest).abs().minCoeff(), found.last_beta);
    }
  }
}

TEST(ExtremeEigenvalues, EndWhereTheSpaceDoes) {
  using E = real<double>;
  const Operator<E> A(from_dense(3 * Eigen::MatrixXd::Identity(50, 50)), Plan{});
  const auto found = found_in(A, nullptr, 10);
  EXPECT_EQ(found.steps, 1);
  EXPECT_EQ(found.last_beta, 0);
  EXPECT_NEAR(found.smallest, 3, 1e-14);
  EXPECT_NEAR(found.largest, 3, 1e-14);
}

TEST(ExtremeEigenvalues, OfAnyMagnitude) {
  using E = real<double>;
  for (const double magnitude : {1e-140, 1.0, 1e140}) {
    SCOPED_TRACE(magnitude);
    Eigen::VectorXd diagonal(4);
    diagonal << -1, 2, 3, 5;
    const Operator<E> A(from_dense((magnitude * diagonal).asDiagonal()), Plan{});
    const auto found = found_in(A, nullptr, 10);
    EXPECT_NEAR(found.smallest / magnitude, -1, 1e-10);
    EXPECT_NEAR(found.largest / magnitude, 5, 1e-10);
  }
}

TEST(ExtremeEigenvalues, SayWhatTheyCannotTell) {
  using E = real<double>;
  Eigen::MatrixXd matrix = Eigen::Vector3d(-1, -2, -3).asDiagonal();
  const Operator<E> negative(from_dense(matrix), Plan{});
  const Jacobi jacobi(negative);
  EXPECT_FALSE(found_in(negative, &jacobi, 10).is_positive);
  matrix(0, 1) = matrix(1, 0) = std::nan("");
  const Operator<E> no_number(from_dense(matrix), Plan{});
  const auto found = found_in(no_number, nullptr, 10);
  EXPECT_TRUE(found.is_positive);
  EXPECT_TRUE(std::isnan(found.smallest) && std::isnan(found.largest));
}

TEST(ExtremeEigenvaluesFrom, AGivenVectorAreThoseItReaches) {
  constexpr Index n = 6;
  TileRows tiles(1, n);
  for (Index i = 0; i < n; ++i) tiles.at(i, i)(0, 0) = i + 1;
  const Operator<real<double>> A(assemble<real<double>>(tiles), Plan{});
  const auto current = detail::row_field_of<double>(A), before = detail::row_field_of<double>(A),
             image = detail::row_field_of<double>(A);
  Field<real<double>> start(n);
  start.view().at(1, 0) = start.view().at(4, 0) = 1;
  Reduction<double> reduction(n);
  const Stream stream = A.device().stream();
  const auto found = detail::extreme_ritz_values<double>(
      A, nullptr, 12,
      {.current = current.view,
       .before = before.view,
       .image = image.view,
       .preconditioned = {},
       .start = [&](const FieldView<double>& v) { permute<double>(start.view(), v, 1.0, stream); }},
      reduction, stream);
  EXPECT_NEAR(found.smallest, 2, 1e-12);
  EXPECT_NEAR(found.largest, 5, 1e-12);
}

}  // namespace
}  // namespace heddle::test::extreme_eigenvalues_test
