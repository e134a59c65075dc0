// Definite forms in single precision, where rounding of products outweighs small eigenvalues: they
// are not reported as indefinite, and pure rounding is not taken for a direction.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <cstddef>
#include <string>
#include <vector>

#include "heddle/approximate_inverse.hpp"
#include "heddle/block_conjugate_gradient.hpp"
#include "heddle/block_jacobi.hpp"
#include "heddle/deflation.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/operator.hpp"
#include "solvers/blocks/ring_eigenpairs.hpp"
#include "support/systems/block_systems.hpp"
#include "support/systems/gauge_matrices.hpp"

namespace heddle::test::rounded_forms {
namespace {

TEST(RoundedForms, DropWhatRoundingMayHaveMade) {
  detail::RingMatrix<Ring::real, double> gram(3, 3);
  gram(0, 0).component[0] = gram(1, 1).component[0] = 1;
  gram(0, 1).component[0] = gram(1, 0).component[0] = 1 + 1e-7;
  gram(2, 2).component[0] = -1e-7;
  const auto exact = detail::orthonormal_columns(gram, 1e-12);
  EXPECT_TRUE(exact.is_negative);
  const double noise = std::sqrt(1.5e-7);
  const auto rounded = detail::orthonormal_columns(gram, 1e-12, {noise, noise, noise});
  EXPECT_FALSE(rounded.is_negative);
  EXPECT_EQ(rounded.to.columns(), 1);
  // The last vector is more accurate than that.
  EXPECT_TRUE(detail::orthonormal_columns(gram, 1e-12, {noise, noise, noise / 2}).is_negative);
}

template <class E>
class RoundedFormsOf : public testing::Test {};
using Entries = testing::Types<real<float>, quaternion<float>>;
TYPED_TEST_SUITE(RoundedFormsOf, Entries);

constexpr double shifts[] = {1e-6, 1e-4, 1};

/// x* M x = 1, and each vector has an eigenvalue of its own, judged by products in double.
template <class E>
void expect_orthonormal(const Eigen::MatrixXd& mass, const std::vector<Field<E>>& x) {
  for (std::size_t i = 0; i < x.size(); ++i) {
    const Eigen::VectorXd image = mass * column_of(x[i]);
    for (std::size_t j = 0; j <= i; ++j) {
      EXPECT_NEAR(column_of(x[j]).dot(image), i == j ? 1 : 0, 0.15) << i << " " << j;
    }
  }
}

TYPED_TEST(RoundedFormsOf, OfAMassLeaveItsEigenvalues) {
  using E = TypeParam;
  constexpr int size = Tiles<E>::size;
  int converged = 0;
  constexpr int most = 48;
  for (unsigned number = 0; number < most; ++number) {
    Seed seed(9300 + number);
    Generator& draw = seed.generator;
    const Index rows = random_between(3, number % 2 == 0 ? 6 : 40, draw);
    const double scale = number % 3 == 0 ? 1e5 : 1;
    const auto matrix = random_gauge_matrix<E>(rows, shifts[random_between(0, 2, draw)], draw);
    auto mass = random_gauge_matrix<E>(rows, shifts[random_between(0, 2, draw)], draw);
    for (float& value : mass.values().span()) value *= static_cast<float>(scale);
    const Eigen::MatrixXd dense = expansion_of(matrix), dense_mass = expansion_of(mass);
    const Plan plan = parse_plan("CSR");
    const Operator<E> A(matrix, plan), M(mass.view(), plan, A.row_basis());
    const int count = random_between(1, 3, draw);
    auto x = zero_fields<E>(count, rows);
    Lobpcg solver(A, M, BlockJacobi(A, 4), {.count = count, .seed = number});
    const EigenReport report = solver.solve(views_of(x));
    ASSERT_NE(report.status, Status::indefinite) << report.detail;
    if (!report.converged()) continue;
    ++converged;
    expect_orthonormal(dense_mass, x);
    const Eigen::VectorXd expected = eigenvalues_of(dense, dense_mass);
    for (int k = 0; k < count; ++k) {
      const double found = report.eigenvalues[static_cast<std::size_t>(k)];
      const double least = expected[k * size];
      // The products of both forms were rounded.
      const double rounding = 1e-5 * (dense.norm() + least * dense_mass.norm()) *
                              column_of(x[std::size_t(k)]).squaredNorm();
      EXPECT_GE(found, least * (1 - 1e-3) - rounding) << k;
    }
  }
  EXPECT_GE(converged, most * 3 / 4);
}

TYPED_TEST(RoundedFormsOf, OfBlocksAreNotIndefinite) {
  using E = TypeParam;
  for (unsigned number = 0; number < 40; ++number) {
    Seed seed(9400 + number);
    Generator& draw = seed.generator;
    const Index rows = random_between(2, number % 2 == 0 ? 6 : 60, draw);
    const auto matrix = random_gauge_matrix<E>(rows, shifts[random_between(0, 2, draw)], draw);
    const Operator<E> A(matrix, parse_plan("CSR"));
    const int count = random_between(1, 8, draw);
    const auto b = random_fields<E>(count, rows, draw);
    const SolverOptions options{.max_iterations = 300, .keep = Keep::best};
    BlockConjugateGradient plain(A, options), jacobi(A, Jacobi(A), options);
    for (auto* const solver : {&plain, &jacobi}) {
      auto x = zero_fields<E>(count, rows);
      for (const Report& report : solver->solve(const_views_of(b), views_of(x))) {
        EXPECT_NE(report.status, Status::indefinite) << report;
        EXPECT_NE(report.status, Status::not_finite) << report;
        EXPECT_LE(report.residual, 1) << report;
      }
    }
  }
}

/// Vectors near the null space, some of them equal.
TYPED_TEST(RoundedFormsOf, OfDeflationsAreNotIndefinite) {
  using E = TypeParam;
  for (unsigned number = 0; number < 20; ++number) {
    Seed seed(9500 + number);
    const Index rows = random_between(3, 40, seed.generator);
    const auto matrix = random_gauge_matrix<E>(rows, 1e-7, seed.generator);
    const Operator<E> A(matrix, parse_plan("CSR"));
    auto x = zero_fields<E>(2, rows);
    Lobpcg(A, {.count = 2}).solve(views_of(x));
    x.push_back(Field<E>(x[0]));
    x.push_back(random_vector<E>(rows, seed.generator));
    const auto deflation = deflated(A, Jacobi(A), const_views_of(x));
    EXPECT_GE(deflation.vectors(), 1);
    EXPECT_LE(deflation.vectors(), 3);
  }
}

}  // namespace
}  // namespace heddle::test::rounded_forms
