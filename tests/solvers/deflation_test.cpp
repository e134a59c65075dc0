// Runs in both builds.
// Deflation against dense matrices, and its effect on iterations.
#include "heddle/deflation.hpp"

#include <gtest/gtest.h>

#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/lobpcg.hpp"
#include "heddle/polynomial.hpp"
#include "heddle/problems.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/block_systems.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/dense_map.hpp"
#include "support/systems/eigen_systems.hpp"
#include "support/where_it_runs.hpp"

namespace heddle::test::deflation {
namespace {

using Dense = DenseMap;

/// The columns of the real expansion: each vector times each unit of the ring.
template <class E>
Dense columns_of(const std::vector<Field<E>>& vectors) {
  constexpr Ring R = E::ring;
  const Eigen::Index rows = components_of<long double>(vectors.front()).size();
  Dense columns(rows, static_cast<Eigen::Index>(vectors.size()) * ring_size(R));
  Eigen::Index column = 0;
  for (const Field<E>& vector : vectors) {
    for (int c = 0; c < ring_size(R); ++c) {
      Coefficient<R, double> unit{};
      unit.component[c] = 1;
      Field<E> times(vector.size());
      axpby<double>(unit, vector.view(), Coefficient<R, double>{}, times.view(), vector.stream());
      columns.col(column++) = components_of<long double>(times);
    }
  }
  return columns;
}

void expect_near(const Dense& actual, const Dense& expected, long double rounding = 1e-12L) {
  const long double defect = (actual - expected).norm() / expected.norm();
  EXPECT_TRUE(defect <= rounding) << defect;
}

template <class E>
class DeflationOf : public ::testing::Test {};
using Entries = ::testing::Types<real<double>, complex<double>, quaternion<double>,
                                 block<double, 3, 3>, block<complex<double>, 3, 3>>;
TYPED_TEST_SUITE(DeflationOf, FewOf<Entries>);

TYPED_TEST(DeflationOf, IsThatOfDenseMatrices) {
  using E = TypeParam;
  for (const char* plan : {"CSR", "order=rcm,C=4,sigma=16,vector=soa", "CSR,recurrence=real"}) {
    SCOPED_TRACE(plan);
    Seed seed(61);
    const auto matrix = random_positive_definite_matrix<E>(29, 4, seed.generator, 0.8);
    const Operator<E> A(matrix, parse_plan(plan));
    const auto w = random_fields<E>(3, 29, seed.generator);
    const std::vector<FieldView<const double>> vectors{w[0], w[1], w[2]};
    const Jacobi<E> jacobi(A);
    const Deflation<double> both = deflated(A, jacobi, vectors);
    EXPECT_EQ(both.vectors(), 3);
    // Jacobi brings the mean eigenvalue to about 1.
    EXPECT_NEAR(both.sigma(), 1, 0.5);
    if (A.coefficient_ring() == E::ring) {
      const Dense W = columns_of(w);
      const Dense dense = expansion<long double>(matrix);
      const Dense coarse =
          W * LuFactors<long double>(W.transpose() * dense * W).inverse() * W.transpose();
      expect_near(dense_of(A, both), dense_of(A, jacobi) + both.sigma() * coarse);
      const Deflation<double> alone(A, vectors);
      expect_near(dense_of(A, alone),
                  Dense::Identity(dense.rows(), dense.cols()) + alone.sigma() * coarse);
    }
    const Dense found = dense_of(A, both);
    expect_near(found, found.transpose());
    EXPECT_TRUE(is_positive_definite(found));
    EXPECT_TRUE(both.is_hermitian());
    EXPECT_FALSE(both.is_capturable());
  }
}

TYPED_TEST(DeflationOf, LeavesOutDependentVectorsAndFollowsNewValues) {
  using E = TypeParam;
  Seed seed(62);
  auto matrix = random_positive_definite_matrix<E>(40, 4, seed.generator, 0.8);
  Operator<E> A(matrix, parse_plan("pJDS"));
  const auto w = random_fields<E>(2, 40, seed.generator);
  Field<E> sum = w[0], zero(40);
  axpby<E>(-2, w[1], 1, sum);
  Deflation<double> all =
      deflated(A, Jacobi(A), std::vector<FieldView<const double>>{w[0], sum, zero, w[1], w[0]});
  Deflation<double> two = deflated(A, Jacobi(A), std::vector<FieldView<const double>>{w[0], w[1]});
  EXPECT_EQ(all.vectors(), 2);
  EXPECT_EQ(all.sigma(), two.sigma());
  expect_near(dense_of(A, all), dense_of(A, two));
  for (Index row = 0; row < matrix.rows(); ++row) {
    for (Offset i = matrix.offsets()[static_cast<std::size_t>(row)];
         i < matrix.offsets()[static_cast<std::size_t>(row) + 1]; ++i) {
      const bool on_diagonal = matrix.column()[static_cast<std::size_t>(i)] == row;
      for (int k = 0; k < E::components; ++k) {
        matrix
            .values()[static_cast<std::size_t>(i) * E::components + static_cast<std::size_t>(k)] *=
            on_diagonal ? 5 + row % 3 : 4;
      }
    }
  }
  A.update_values(matrix);
  all.refresh();
  const Operator<E> B(matrix, parse_plan("pJDS"));
  expect_near(
      dense_of(A, all),
      dense_of(B, deflated(B, Jacobi(B), std::vector<FieldView<const double>>{w[0], w[1]})));
}

/// A diagonal matrix with three eigenvalues far below the others.
CsrMatrix<real<double>> diagonal(Index rows, double least) {
  TileRows tiles(1, rows);
  for (Index i = 0; i < rows; ++i) {
    tiles.at(i, i)(0, 0) = i < 3 ? least * (1 + i) : 1 + static_cast<double>(i) / rows;
  }
  return assemble<real<double>>(tiles);
}

TEST(Deflation, TakesExactEigenvectorsOutOfTheIterations) {
  using E = real<double>;
  constexpr Index rows = 400;
  const Operator<E> A(diagonal(rows, 1e-5), Plan{});
  std::vector<Field<E>> w = zero_fields<E>(3, rows);
  for (Index k = 0; k < 3; ++k) w[static_cast<std::size_t>(k)].view().at(k, 0) = 1 + k;
  const auto deflation = std::make_shared<Deflation<double>>(A, const_views_of(w));
  EXPECT_NEAR(deflation->sigma(), 1.5, 0.1);
  Seed seed(63);
  const Field<E> b = random_vector<E>(rows, seed.generator);
  // The remaining eigenvalues: 1e-5 + sigma replaces 1e-5, which changes nothing.
  const Operator<E> B(diagonal(rows, deflation->sigma() / 2), Plan{});
  Field<E> x(rows), y(rows), z(rows);
  ConjugateGradient with(A, deflation), without(A), least(B);
  const Report report = with.solve(b, x), plain = without.solve(b, y), bound = least.solve(b, z);
  ASSERT_TRUE(report.converged() && plain.converged() && bound.converged());
  EXPECT_LE(report.iterations, bound.iterations + 1);
  EXPECT_GE(plain.iterations, report.iterations + 3);
  axpby<E>(-1, y, 1, x);
  EXPECT_LE(norm<E>(x), 1e-8 * norm<E>(y));
}

template <class E>
void expect_fewer_iterations(const CsrMatrix<E>& matrix, double factor) {
  const Operator<E> A(matrix, parse_plan("pJDS"));
  constexpr int count = 8;
  auto w = zero_fields<E>(count, A.rows());
  Lobpcg eigen(A, Jacobi(A), {.count = count, .tolerance = 1e-6});
  ASSERT_TRUE(eigen.solve(views_of(w)).solved());
  Seed seed(64);
  const Field<E> b = random_vector<E>(A.rows(), seed.generator);
  Field<E> x(A.rows()), y(A.rows());
  ConjugateGradient with(A, deflated(A, Jacobi(A), const_views_of(w))), without(A, Jacobi(A));
  const Report report = with.solve(b, x), plain = without.solve(b, y);
  ASSERT_TRUE(report.converged() && plain.converged()) << report << plain;
  EXPECT_LE(static_cast<double>(report.iterations), factor * static_cast<double>(plain.iterations));
  axpby<E>(-1, y, 1, x);
  EXPECT_LE(norm<E>(x), 1e-6 * norm<E>(y));
  // The deflation belongs to the matrix, not to a single solve.
  fill<double>(0, x.view(), A.device().stream());
  EXPECT_EQ(with.solve(b, x).iterations, report.iterations);
}

TEST(Deflation, TakesFewerIterationsWithEigenvectorsOfLobpcg) {
  HEDDLE_RELEASE_ONLY();
  expect_fewer_iterations(elasticity(900), 0.7);
  // Conjugate gradient alone soon finds this few small eigenvalues of a cube.
  expect_fewer_iterations(poisson(3000), 0.8);
  Seed seed(65);
  expect_fewer_iterations(random_system<quaternion<double>>(900, 1, 1e-6, 0, seed.generator).matrix,
                          0.9);
}

TEST(Deflation, HasTheSameBitsForAnyThreads) {
  using E = quaternion<double>;
  std::vector<std::vector<double>> ends;
  for (const int threads : {1, 2, 3}) {
    Seed seed(66);
    const Operator<E> A(random_positive_definite_matrix<E>(3000, 6, seed.generator),
                        parse_plan("K1rs"), Device::cpu(threads));
    const auto w = random_fields<E>(2, 3000, seed.generator);
    const auto both = deflated(A, Jacobi(A), std::vector<FieldView<const double>>{w[0], w[1]});
    Field<E> r = A.field(), z = A.field();
    fill_randomly(r, seed.generator);
    both.apply(r, z, A.device().stream());
    ends.push_back(bits_of(z));
  }
  EXPECT_EQ(ends[0], ends[1]);
  EXPECT_EQ(ends[0], ends[2]);
}

TEST(Deflation, RefusesWhatDoesNotFit) {
  using E = real<double>;
  const Operator<E> A(poisson(64), Plan{}), B(poisson(125), Plan{});
  const Field<E> w(64), other(125);
  using Views = std::vector<FieldView<const double>>;
  expect_error(ErrorKind::usage, "deflation takes 1 to 64 vectors, not 0",
               [&] { Deflation<double> none(A, Views{}); });
  expect_error(ErrorKind::size_mismatch,
               "the operator has 64 rows of 1 components, a vector of the deflation 125 of 1",
               [&] { Deflation<double> wrong(A, Views{other}); });
  EXPECT_THROW(deflated(A, Jacobi(B), Views{w}), Error);
  Field<E> bad = w;
  bad.view().at(5, 0) = std::numeric_limits<double>::quiet_NaN();
  expect_error(ErrorKind::not_finite, "deflation: W* A W is not finite",
               [&] { Deflation<double> none(A, Views{bad}); });
  auto negative = poisson(64);
  for (double& value : negative.values()) value = -value;
  const Operator<E> C(negative, Plan{});
  fill<double>(1, bad.view(), A.device().stream());
  expect_error(ErrorKind::unsupported,
               "deflation needs a positive definite matrix, and w* A w is negative for one vector",
               [&] { Deflation<double> none(C, Views{bad}); });
  // Vectors that are all zero leave nothing.
  const Deflation<double> nothing(A, Views{w});
  EXPECT_EQ(nothing.vectors(), 0);
  Field<E> z(63);
  EXPECT_THROW(nothing.apply(bad, z, A.device().stream()), Error);
}

}  // namespace
}  // namespace heddle::test::deflation
