// Runs in both builds.
// GMRES over every entry: each residual of a cycle is the smallest in the Krylov space over the
// coefficients' ring, and each cycle starts from the true residual.
#include "heddle/gmres.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>

#include "heddle/bicgstab.hpp"
#include "heddle/jacobi.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/row_weights.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/eigen_preconditioners.hpp"
#include "support/systems/systems.hpp"
#include "support/times_unit.hpp"
#include "support/where_it_runs.hpp"

namespace heddle::test::gmres {
namespace {

using Long = Eigen::Matrix<long double, -1, -1>;
using LongVector = Eigen::Matrix<long double, -1, 1>;

/// The smallest |b - A W z| / |b| for z in the Krylov spaces of A W of dimension 0, 1, ..., over
/// the ring.
std::vector<double> smallest_residuals(const Eigen::MatrixXd& A, const Eigen::VectorXd& weights,
                                       const Vector<double>& b, Ring ring, int steps) {
  const Long B = A.cast<long double>() * weights.cast<long double>().asDiagonal();
  const LongVector rhs = b.cast<long double>();
  Long basis(A.rows(), 0);
  LongVector newest = rhs;
  std::vector<double> residuals{1};
  for (int k = 0; k < steps; ++k) {
    for (int twice = 0; twice < 2; ++twice) newest -= basis * (basis.transpose() * newest);
    newest /= newest.norm();
    for (int u = 0; u < ring_size(ring); ++u) {
      basis.conservativeResize(Eigen::NoChange, basis.cols() + 1);
      basis.rightCols(1) = times_unit(newest, ring, u);
    }
    const Long image = B * basis;
    const LongVector y = solution_by_qr(image, rhs);
    residuals.push_back(static_cast<double>((rhs - image * y).norm() / rhs.norm()));
    newest = B * newest;
  }
  return residuals;
}

template <class E>
class GmresEntries : public ::testing::Test {};
using Entries =
    ::testing::Types<real<double>, complex<double>, quaternion<double>, dual_quaternion<double>,
                     block<double, 3, 3>, block<complex<double>, 3, 3>>;
TYPED_TEST_SUITE(GmresEntries, FewOf<Entries>);

constexpr const char* plans[] = {"CSR", "C=4,sigma=n,T=2,inner=soa,vector=soa", "K2rs"};

TYPED_TEST(GmresEntries, LeavesTheSmallestResidualOfTheKrylovSpace) {
  if (group_of_entry<TypeParam> != EntryGroup::complex) HEDDLE_RELEASE_ONLY();
  using E = TypeParam;
  constexpr Index n = 61;
  constexpr int steps = 9, K = vector_entry_t<E>::components;
  for (unsigned seed = 1; seed <= 2; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    const auto matrix = general_system<E>(n, generator).matrix;
    const Eigen::MatrixXd dense = expansion<double>(matrix);
    const Field<E> b = random_vector<E>(n, generator);
    for (const bool preconditioned : {false, true}) {
      SCOPED_TRACE(preconditioned ? "preconditioned" : "");
      const auto [weights, of_scalars] = random_weights(n, K, preconditioned, 0.5, generator);
      for (const std::string recurrence : {"", ",recurrence=real"}) {
        for (const char* plan : plans) {
          SCOPED_TRACE(plan + recurrence);
          const Operator<E> A(matrix, parse_plan(plan + recurrence));
          const auto smallest = smallest_residuals(dense, of_scalars, components_of<double>(b),
                                                   A.coefficient_ring(), steps);
          const SolverOptions options{.tolerance = 1e-15,
                                      .max_iterations = steps,
                                      .restart = steps + 3,
                                      .record_history = true};
          Gmres solver =
              preconditioned ? Gmres(A, RowWeights<double>(weights), options) : Gmres(A, options);
          Field<E> x(n);
          const Report report = solver.solve(b, x);
          ASSERT_EQ(solver.history().size(), smallest.size());
          for (std::size_t k = 0; k < smallest.size(); ++k) {
            EXPECT_NEAR(solver.history()[k] / smallest[k], 1, 1e-9) << "step " << k;
          }
          // With right preconditioning, the recurrence has the residual of x.
          EXPECT_NEAR(report.residual / smallest.back(), 1, 1e-9);
        }
      }
    }
  }
}

TYPED_TEST(GmresEntries, SolvesOverSeveralCycles) {
  using E = TypeParam;
  Generator generator(7);
  for (const Index n : {1, 2, 33, 700}) {
    const auto matrix = general_system<E>(n, generator).matrix;
    const Operator<E> A(matrix, parse_plan("K1rs"));
    const Field<E> b = random_vector<E>(n, generator);
    for (const int restart : {1, 5, 30}) {
      for (const bool jacobi : {false, true}) {
        SCOPED_TRACE(std::to_string(n) + " rows, restart " + std::to_string(restart));
        const SolverOptions options{.restart = restart, .record_history = true};
        Gmres<double> solver =
            jacobi ? Gmres<double>(A, Jacobi(A), options) : Gmres<double>(A, options);
        Field<E> x(n);
        const Report report = solver.solve(b, x);
        EXPECT_TRUE(report.converged()) << report;
        EXPECT_LE(true_residual(matrix, b, x), report.target_norm * (1 + 1e-9));
        EXPECT_EQ(static_cast<long long>(solver.history().size()), report.iterations + 1);
        for (std::size_t k = 1; k < solver.history().size(); ++k) {
          EXPECT_LE(solver.history()[k], solver.history()[k - 1] * (1 + 1e-7)) << k;
        }
      }
    }
  }
}

/// Real coefficients take twice as many steps: the minimal polynomial of the real expansion has
/// degree 2n, since the eigenvalues of a quaternion matrix come in conjugate pairs.
TEST(Gmres, TakesAsManyStepsAsTheRingHasDimensions) {
  using E = quaternion<double>;
  constexpr Index n = 12;
  Generator generator(11);
  const auto matrix = general_system<E>(n, generator).matrix;
  const Field<E> b = random_vector<E>(n, generator);
  for (const auto& [plan, steps] : {std::pair("CSR", n), {"CSR,recurrence=real", 2 * n}}) {
    const Operator<E> A(matrix, parse_plan(plan));
    Field<E> x(n);
    const Report report = Gmres(A, {.tolerance = 1e-12, .restart = 100}).solve(b, x);
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_EQ(report.iterations, steps) << plan;
  }
}

TEST(Gmres, SolvesInSingle) {
  using E = quaternion<float>;
  Generator generator(8);
  const auto matrix = general_system<E>(300, generator).matrix;
  const Operator<E> A(matrix, Plan{});
  const Field<E> b = random_vector<E>(300, generator);
  Field<E> x(300);
  const Report report = Gmres(A).solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_LE(true_residual(matrix, b, x), report.target_norm * (1 + 1e-4));
}

/// The Krylov space of an eigenvector has dimension one.
TEST(Gmres, EndsWhereTheKrylovSpaceIsWhole) {
  using E = real<double>;
  const Eigen::MatrixXd dense = Eigen::Vector4d(2, 2, 3, 3).asDiagonal();
  const Operator<E> A(from_dense(dense), Plan{});
  Field<E> b(4), x(4);
  b.scalars()[0] = b.scalars()[1] = 1;
  Report report = Gmres(A).solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_EQ(report.iterations, 1);
  b.scalars()[2] = 1;
  report = Gmres(A).solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_LE(report.iterations, 2);
}

/// A single Gram-Schmidt pass everywhere would take more steps than the space has dimensions.
TEST(Gmres, StaysOrthogonalOverALongCycle) {
  using E = real<double>;
  constexpr Index n = 80;
  Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(n, n);
  for (Index i = 0; i < n; ++i) dense(i, i) = std::pow(1e3, double(i) / (n - 1));
  const Operator<E> A(from_dense(dense), Plan{});
  Field<E> b(n), x(n);
  for (double& value : b.scalars()) value = 1;
  const Report report = Gmres(A, {.tolerance = 1e-12, .restart = n + 20}).solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_LE(report.iterations, n);
}

TEST(Gmres, SaysWhatDoesNotConverge) {
  using E = real<double>;
  // A cyclic shift: within a cycle only the last residual is smaller, and a shorter cycle has none.
  constexpr Index n = 40;
  Eigen::MatrixXd shift = Eigen::MatrixXd::Zero(n, n);
  for (Index i = 0; i < n; ++i) shift((i + 1) % n, i) = 1;
  const Operator<E> A(from_dense(shift), Plan{});
  Field<E> b(n), x(n);
  b.scalars()[0] = 1;
  EXPECT_TRUE(Gmres(A, {.restart = n}).solve(b, x).converged());
  x = Field<E>(n);
  const Report report = Gmres(A, {.restart = 10}).solve(b, x);
  EXPECT_EQ(report.status, Status::stagnated) << report;
  EXPECT_LE(report.residual, 1);

  // A singular matrix, and b outside its range.
  Eigen::MatrixXd singular = Eigen::MatrixXd::Zero(3, 3);
  singular(0, 1) = 1;
  const Operator<E> S(from_dense(singular), Plan{});
  Field<E> c(3), y(3);
  c.scalars()[2] = 1;
  const Report broken = Gmres(S).solve(c, y);
  EXPECT_EQ(broken.status, Status::breakdown) << broken;
  EXPECT_EQ(broken.residual, 1);
}

TEST(Gmres, KeepsToTheRestartOfItsConstruction) {
  using E = real<double>;
  Generator generator(5);
  const Operator<E> A(general_system<E>(100, generator).matrix, Plan{});
  Gmres solver(A, {.restart = 20});
  expect_error(ErrorKind::usage,
               "solver options: the restart is fixed by the solver's construction",
               [&] { solver.set_options({.restart = 21}); });
  expect_error(ErrorKind::usage,
               "solver options: the tolerance is at least 0 and below 1; absolute tolerance, "
               "iteration and time limit are not negative; the restart is 1 iteration or more",
               [&] { Gmres(A, {.restart = 0}); });
  EXPECT_GE(solver.memory(), 20 * 100 * 8);
  const Field<E> b = random_vector<E>(100, generator);
  Field<E> x(100);
  int seen = 0;
  solver.set_options({.restart = 20, .observer = [&](const SolveProgress&) { return ++seen < 7; }});
  EXPECT_EQ(solver.solve(b, x).status, Status::cancelled);
  EXPECT_EQ(seen, 7);
}

}  // namespace
}  // namespace heddle::test::gmres
