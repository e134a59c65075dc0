// The conjugate residual method: equal to MINRES for definite matrices.
#include "heddle/conjugate_residual.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <string>
#include <vector>

#include "heddle/complex_symmetric.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/minres.hpp"
#include "support/few_entries.hpp"
#include "support/random_matrix.hpp"
#include "support/row_weights.hpp"
#include "support/systems/complex_symmetric_matrix.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::conjugate_residual {
namespace {

template <class E>
class ConjugateResidualEntries : public ::testing::Test {};
TYPED_TEST_SUITE(ConjugateResidualEntries, FewOf<HermitianEntries<double>>);

TYPED_TEST(ConjugateResidualEntries, MakesTheSmallestResidualsAsMinresDoes) {
  using E = TypeParam;
  Seed seed(4201);
  for (const Index rows : {1, 2, 33, 400}) {
    SCOPED_TRACE(rows);
    const auto matrix = random_positive_definite_matrix<E>(rows, 7, seed.generator);
    const Field<E> b = random_field<E>(rows, seed.generator);
    for (const char* plan : {"CSR", "C=4,sigma=n,T=2,inner=soa,vector=soa"}) {
      SCOPED_TRACE(plan);
      const Operator<E> A(matrix, parse_plan(plan));
      const SolverOptions options{.record_history = true};
      constexpr std::size_t steps = 12;  // before loss of orthogonality makes rounding grow
      ConjugateResidual<double> solver(A, options);
      Minres<double> minres(A, options);
      Field<E> x(rows), y(rows);
      const Report report = solver.solve(b, x);
      minres.solve(b, y);
      EXPECT_TRUE(report.converged()) << report;
      EXPECT_LE(true_residual(matrix, b, x), report.target_norm * (1 + 1e-4));
      for (std::size_t k = 0; k < std::min(steps, minres.history().size()); ++k) {
        const double expected = minres.history()[k];
        EXPECT_NEAR(solver.history().at(k), expected, 1e-9 * expected + 1e-14) << k;
      }
    }
  }
}

TYPED_TEST(ConjugateResidualEntries, TakesPreconditioners) {
  using E = TypeParam;
  Seed seed(4202);
  const auto matrix = random_positive_definite_matrix<E>(300, 7, seed.generator);
  const Operator<E> A(matrix, Plan{});
  const Field<E> b = random_field<E>(300, seed.generator);
  Field<E> x(300);
  const Report report = ConjugateResidual(A, Jacobi(A)).solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_LE(true_residual(matrix, b, x), report.target_norm * (1 + 1e-4));
  Field<E> y(300);
  const RowWeights<double> negative(std::vector<double>(300, -1.0));
  EXPECT_EQ(ConjugateResidual(A, negative).solve(b, y).status, Status::indefinite);
}

TEST(ConjugateResidual, SolvesInSingle) {
  using E = quaternion<float>;
  Seed seed(4203);
  const auto matrix = random_positive_definite_matrix<E>(300, 7, seed.generator);
  const Operator<E> A(matrix, Plan{});
  const Field<E> b = random_field<E>(300, seed.generator);
  Field<E> x(300);
  const Report report = ConjugateResidual(A).solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
}

/// Distant guesses leave rounding in r that z = M^-1 r does not contain: the true residual
/// recovers.
template <template <class> class Method, class E>
void expect_recovery(const CsrMatrix<E>& matrix, double distance, Generator& generator) {
  const Operator<E> A(matrix, Plan{});
  const Field<E> b = random_field<E>(A.rows(), generator);
  Field<E> x = random_field<E>(A.rows(), generator);
  for (double& value : x.scalars()) value *= distance;
  const Report report = Method<double>(A, Jacobi<E>(A)).solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_GE(report.restarts, 1) << report;
  EXPECT_LE(true_residual(matrix, b, x), report.target_norm * (1 + 1e-4));
}
TEST(ConjugateResidual, RecoversFromFarGuesses) {
  Seed seed(4204);
  Generator& generator = seed.generator;
  for (const Index rows : {25, 300}) {
    const auto real_matrix = random_positive_definite_matrix<real<double>>(rows, 7, generator);
    expect_recovery<ConjugateResidual>(real_matrix, 1e8, generator);
    expect_recovery<Cocr>(real_matrix, 1e10, generator);
    expect_recovery<ConjugateResidual>(
        random_positive_definite_matrix<quaternion<double>>(rows, 7, generator), 1e8, generator);
    expect_recovery<Cocr>(random_complex_symmetric_matrix<complex<double>>(rows, 7, generator),
                          1e10, generator);
  }
}

/// r* A r = 0 for r = b.
TEST(ConjugateResidual, BreaksDownWhereMinresDoesNot) {
  using E = real<double>;
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(2, 2);
  dense(0, 0) = 1;
  dense(1, 1) = -1;
  const Operator<E> A(from_dense(dense), Plan{});
  Field<E> b(2), x(2);
  b.scalars()[0] = b.scalars()[1] = 1;
  const Report report = ConjugateResidual(A).solve(b, x);
  EXPECT_EQ(report.status, Status::breakdown) << report;
  EXPECT_NE(report.detail.find("use MINRES"), std::string::npos) << report.detail;
}

TEST(ConjugateResidual, SaysThatThePreconditionerIsIndefinite) {
  using E = quaternion<double>;
  Generator generator(4205);
  const System<E> system = random_system<E>(60, 3, 0.02, 0, generator);
  const Operator<E> A(system.matrix, Plan{});
  const Field<E> b = random_vector<E>(60, generator);
  for (const std::size_t step : {1, 3}) {
    std::vector<double> weights(60, 1);
    for (std::size_t i = 0; i < weights.size(); i += step) weights[i] = -1;
    Field<E> x(60);
    const Report report = ConjugateResidual(A, RowWeights<double>(weights)).solve(b, x);
    EXPECT_EQ(report.status, Status::indefinite) << report;
    EXPECT_NE(report.detail.find("preconditioner"), std::string::npos) << report.detail;
    EXPECT_LE(true_residual(system.matrix, b, x), components_of<double>(b).norm() * (1 + 1e-12));
  }
}

TEST(ConjugateResidual, RefusesWhatIsNotHermitian) {
  using E = complex<double>;
  Seed seed(4204);
  const Operator<E> A(random_dominant_matrix<E>({.rows = 50, .columns = 50}, seed.generator),
                      Plan{});
  const Field<E> b = random_field<E>(50, seed.generator);
  Field<E> x(50);
  EXPECT_EQ(ConjugateResidual(A).solve(b, x).status, Status::not_hermitian);
}

}  // namespace
}  // namespace heddle::test::conjugate_residual
