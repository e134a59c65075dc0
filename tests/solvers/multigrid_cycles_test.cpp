// K-cycles of a multigrid, and where Gauss-Seidel's colours end.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <memory>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/fgmres.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/problems.hpp"
#include "support/expect_error.hpp"
#include "support/random_matrix.hpp"
#include "support/systems.hpp"

namespace heddle::test::multigrid_cycles {
namespace {

/// Poisson's equation over numbers of E.
template <class E>
CsrMatrix<E> poisson_over(Index size) {
  const auto scalar = poisson(size, 1, {.contrast = 0});
  TileRows tiles(vector_entry_t<E>::components, scalar.rows());
  for (Index i = 0; i < scalar.rows(); ++i) {
    for (Offset e = scalar.offsets()[i]; e < scalar.offsets()[i + 1]; ++e) {
      auto& tile = tiles.at(i, scalar.column()[e]);
      tile = scalar.values()[e] * Eigen::MatrixXd::Identity(tile.rows(), tile.cols());
    }
  }
  return assemble<E>(tiles);
}

template <class E>
void expect_flexible_cycles(const char* plan) {
  Seed seed(18);
  const auto matrix = poisson_over<E>(9000);
  const Operator<E> A(matrix, parse_plan(plan));
  const Field<E> b = random_vector<E>(matrix.rows(), seed.generator);
  const auto iterations = [&](Cycle cycle, Smoother smoother) {
    auto multigrid = std::make_shared<Multigrid<double>>(
        A, MultigridOptions{.cycle = cycle, .smoother = smoother, .coarsest = 8});
    EXPECT_GE(multigrid->report().levels.size(), 4U);
    EXPECT_EQ(multigrid->is_constant(), cycle != Cycle::k);
    if (cycle == Cycle::k) {
      expect_error(ErrorKind::unsupported,
                   "conjugate gradient needs a constant preconditioner, and this one says that it "
                   "varies; use FGMRES",
                   [&] {
                     ConjugateGradient<double> refused(
                         A, std::shared_ptr<Preconditioner<double>>(multigrid));
                   });
    }
    Fgmres<double> solver(A, std::shared_ptr<Preconditioner<double>>(multigrid));
    Field<E> x(matrix.rows());
    const Report report = solver.solve(b, x);
    EXPECT_TRUE(report.converged()) << report;
    return report.iterations;
  };
  for (const Smoother smoother : {Smoother::chebyshev, Smoother::gauss_seidel}) {
    EXPECT_LE(iterations(Cycle::k, smoother), iterations(Cycle::v, smoother));
  }
}

TEST(MultigridCycles, OfKindKAreForFlexibleMethods) {
  expect_flexible_cycles<real<double>>("CSR");
  expect_flexible_cycles<quaternion<double>>("C=4,sigma=16,vector=soa,iteration-precision=single");
}

TEST(MultigridSmoothers, TakeAPolynomialWhereThereAreTooManyColours) {
  // Each of 600 rows is connected to the 40 before and behind it: 41 colours, and with 70, 71.
  for (const Index reach : {40, 70}) {
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(600, 600);
    for (Index i = 0; i < 600; ++i) {
      for (Index j = std::max(0, i - reach); j < i; ++j) dense(i, j) = dense(j, i) = -1;
    }
    dense.diagonal() = (0.01 - dense.rowwise().sum().array()).matrix();
    const Operator<real<double>> A(from_dense(dense), Plan{});
    const auto report = Multigrid<double>(A, {.smoother = Smoother::gauss_seidel}).report();
    EXPECT_EQ(report.levels.front().colours, reach == 40 ? 41 : 0);
  }
}

}  // namespace
}  // namespace heddle::test::multigrid_cycles
