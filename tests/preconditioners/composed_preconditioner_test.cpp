// Runs in the release.
// Compositions of preconditioners against dense products, and the methods that take them.
#include "heddle/composed_preconditioner.hpp"

#include <gtest/gtest.h>

#include <memory>
#include <string>
#include <vector>

#include "heddle/approximate_inverse.hpp"
#include "heddle/bicgstab.hpp"
#include "heddle/block_jacobi.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/polynomial.hpp"
#include "heddle/problems.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/dense_map.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::composed {
namespace {

using Dense = DenseMap;

void expect_near(const Dense& actual, const Dense& expected) {
  const long double defect = (actual - expected).norm() / expected.norm();
  EXPECT_TRUE(defect <= 1e-13) << defect;
}

template <class E>
class ComposedOf : public ::testing::Test {};
using Entries =
    ::testing::Types<real<double>, complex<double>, quaternion<double>, block<double, 3, 3>>;
TYPED_TEST_SUITE(ComposedOf, FewOf<Entries>);

using Parts = std::vector<std::shared_ptr<Preconditioner<double>>>;

TYPED_TEST(ComposedOf, AreThoseOfDenseMatrices) {
  using E = TypeParam;
  for (const Index rows : {1, 7, 29}) {
    Seed seed(static_cast<std::uint64_t>(rows));
    const auto matrix = random_positive_definite_matrix<E>(rows, 4, seed.generator, 0.8);
    const Dense dense = expansion<long double>(matrix);
    const Dense one = Dense::Identity(dense.rows(), dense.cols());
    for (const char* plan : {"CSR", "order=rcm,C=4,sigma=16,vector=soa"}) {
      SCOPED_TRACE(std::string(plan) + ", " + std::to_string(rows) + " rows");
      const Operator<E> A(matrix, parse_plan(plan));
      const auto jacobi = std::make_shared<Jacobi<E>>(A);
      const auto blocks = std::make_shared<BlockJacobi<double>>(A, 2);
      const auto isai = std::make_shared<Isai<double>>(A);
      for (const Parts& parts : {Parts{isai}, Parts{jacobi, isai}, Parts{jacobi, isai, blocks},
                                 Parts{jacobi, isai, blocks, isai}}) {
        Dense product = one, left = one;
        for (const auto& part : parts) {
          const Dense P = dense_of(A, *part);
          product = product * P;
          left = (one - P * dense) * left;
        }
        expect_near(dense_of(A, ProductPreconditioner<double>(A, parts)), product);
        const Dense found = dense_of(A, MultiplicativePreconditioner<double>(A, parts));
        const long double defect = (one - found * dense - left).norm() / one.norm();
        EXPECT_TRUE(defect <= 1e-12) << defect;
      }
    }
  }
}

TYPED_TEST(ComposedOf, SymmetricFormsAreHermitian) {
  using E = TypeParam;
  Seed seed(31);
  const auto matrix = random_positive_definite_matrix<E>(31, 4, seed.generator, 0.8);
  const Operator<E> A(matrix, Plan{});
  const auto expect_hermitian = [&](const Preconditioner<double>& preconditioner) {
    EXPECT_TRUE(preconditioner.is_hermitian());
    const Dense dense = dense_of(A, preconditioner);
    expect_near(dense, dense.transpose());
    EXPECT_TRUE(is_positive_definite(dense));
  };
  expect_hermitian(symmetric_product(A, Jacobi(A), BlockJacobi(A, 2)));
  expect_hermitian(symmetric_multiplicative(A, Chebyshev(A, Jacobi(A)), Fsai(A)));
  EXPECT_FALSE(product(A, Jacobi(A), Fsai(A)).is_hermitian());
  EXPECT_FALSE(multiplicative(A, Jacobi(A), Fsai(A)).is_hermitian());
  EXPECT_FALSE(symmetric_product(A, Isai(A), Jacobi(A)).is_hermitian());
  EXPECT_FALSE(symmetric_product(A, Jacobi(A), Fsai(A)).is_symmetric());
}

template <class Method, class E>
long long iterations(Method& solver, const Operator<E>& A) {
  Seed seed(32);
  const auto b = random_vector<E>(A.rows(), seed.generator);
  Field<E> x(A.rows());
  const Report report = solver.solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  return report.iterations;
}

TEST(Composed, SolvesInFewerIterationsThanItsParts) {
  const Operator<block<double, 3, 3>> A(elasticity(900), parse_plan("pJDS"));
  ConjugateGradient blocks(A, BlockJacobi(A)), chebyshev(A, Chebyshev(A, Jacobi(A))),
      both(A, symmetric_multiplicative(A, Chebyshev(A, Jacobi(A)), BlockJacobi(A)));
  const long long together = iterations(both, A);
  EXPECT_LT(together, iterations(blocks, A));
  EXPECT_LT(together, iterations(chebyshev, A));
  BiCGStab plain(A, BlockJacobi(A)), composed(A, multiplicative(A, BlockJacobi(A), Isai(A)));
  EXPECT_LT(iterations(composed, A), iterations(plain, A));
  expect_error(
      ErrorKind::unsupported,
      "conjugate gradient needs a Hermitian preconditioner, and this one says that it is not; use "
      "BiCGStab",
      [&] { ConjugateGradient cg(A, multiplicative(A, BlockJacobi(A), Jacobi(A))); });
}

TEST(Composed, NewValuesReachEachPart) {
  using E = quaternion<double>;
  Seed seed(33);
  auto matrix = random_positive_definite_matrix<E>(40, 4, seed.generator, 0.8);
  Operator<E> A(matrix, parse_plan("pJDS"));
  auto twice = symmetric_product(A, Jacobi(A), BlockJacobi(A, 2));
  auto thrice = multiplicative(A, Jacobi(A), Fsai(A));
  const Dense before = dense_of(A, twice), left = dense_of(A, thrice);
  for (double& value : matrix.values()) value *= 4;
  A.update_values(matrix);
  twice.refresh();
  thrice.refresh();
  EXPECT_EQ(Dense(64 * dense_of(A, twice)), before);
  EXPECT_EQ(Dense(4 * dense_of(A, thrice)), left);
}

TEST(Composed, RefusesPartsThatDoNotFit) {
  const Operator<real<double>> A(poisson(27), Plan{}), B(poisson(64), Plan{});
  expect_error(ErrorKind::usage, "a product of preconditioners needs at least one preconditioner",
               [&] { ProductPreconditioner<double>(A, {}); });
  expect_error(ErrorKind::usage, "a multiplicative preconditioner: a null preconditioner",
               [&] { MultiplicativePreconditioner<double>(A, {nullptr}); });
  EXPECT_THROW(product(A, Jacobi(A), Jacobi(B)), Error);
  const auto both = product(A, Jacobi(A), Jacobi(A));
  Field<real<double>> r(27), z(26);
  EXPECT_THROW(both.apply(r, z, A.device().stream()), Error);
}

}  // namespace
}  // namespace heddle::test::composed
