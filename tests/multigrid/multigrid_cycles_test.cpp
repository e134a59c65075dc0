// Runs in the release.
// Multigrid cycles: of kind K, on single numbers, and the limit on Gauss-Seidel's colours.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <memory>
#include <numbers>
#include <random>
#include <span>
#include <utility>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/fgmres.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/problems.hpp"
#include "support/expect_error.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::multigrid_cycles {
namespace {

/// Poisson's equation with numbers of E.
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
  // Each of 600 rows is connected to the 40 before and after it: 41 colours; for 70 rows, 71
  // colours.
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

/// The gauge Laplacian of PyAMG's gallery: 4 on the diagonal of a periodic grid of 70 x 70, and
/// -exp(2 pi i beta g) on its links, g Gaussian. No constant is near its null space.
CsrMatrix<complex<double>> gauge_laplacian(double beta) {
  constexpr Index side = 70;
  Seed seed(19);
  std::normal_distribution<double> gaussian;
  TileRows tiles(2, side * side);
  const auto link = [&](Index i, Index j) {
    const double angle = 2 * std::numbers::pi * beta * gaussian(seed.generator);
    const Eigen::Matrix2d turn{{std::cos(angle), -std::sin(angle)},
                               {std::sin(angle), std::cos(angle)}};
    tiles.at(i, j) = -turn;
    tiles.at(j, i) = -turn.transpose();
  };
  for (Index i = 0; i < tiles.count(); ++i) {
    tiles.at(i, i) = 4 * Eigen::Matrix2d::Identity();
    link(i, i % side + 1 < side ? i + 1 : i + 1 - side);
    link(i, (i + side) % tiles.count());
  }
  return assemble<complex<double>>(tiles);
}

TEST(MultigridSmoothers, ReduceTheErrorOfAGaugeLaplacian) {
  // The bound of PyAMG's own test, which uses symmetric Gauss-Seidel as smoother, for 20 cycles.
  Seed seed(20);
  const Operator<complex<double>> A(gauge_laplacian(0.41), Plan{});
  const auto exact = random_vector<complex<double>>(A.rows(), seed.generator);
  const Stream stream = A.device().stream();
  const auto adaptive = adaptive_candidates<double>(A, 0, {.coarsest = 10});
  const FieldView<const double> adapted(adaptive.front().data(), A.rows(), 2);
  for (const Smoother smoother : {Smoother::chebyshev, Smoother::gauss_seidel}) {
    double of_constants = 0;
    for (const auto& candidates :
         {std::span<const FieldView<const double>>(), std::span(&adapted, 1)}) {
      const Multigrid<double> multigrid(A, {.smoother = smoother, .degree = 2, .coarsest = 10},
                                        candidates);
      Field<complex<double>> x(A.rows()), r(A.rows()), z(A.rows());
      double first = 0;
      constexpr int cycles = 20;
      for (int k = 0; k <= cycles; ++k) {
        axpby(1.0, exact, 0.0, r);
        axpby(-1.0, x, 1.0, r);
        A.apply(1, r.view(), 0, z.view(), stream);  // b - A x
        std::swap(r, z);
        if (k == 0) first = norm(r);
        if (k == cycles) break;
        multigrid.apply(r.view(), z.view(), stream);
        axpby(1.0, z, 1.0, x);
      }
      const double factor = std::pow(norm(r) / first, 1.0 / cycles);
      EXPECT_LT(factor, 0.4) << static_cast<int>(smoother);
      if (candidates.empty()) of_constants = factor;
      EXPECT_LE(factor, 1.02 * of_constants);
    }
  }
}

/// The result of a cycle on random numbers.
template <class S>
std::vector<S> applied(const CsrMatrix<real<S>>& matrix, const char* plan, int threads,
                       const MultigridOptions& options) {
  const Operator<real<S>> A(matrix, parse_plan(plan), Device::cpu(threads));
  const Multigrid<S> multigrid(A, options);
  EXPECT_GE(multigrid.report().levels.size(), 3U);
  Seed seed(19);
  const auto r = random_vector<real<S>>(matrix.rows(), seed.generator);
  Field<real<S>> z(matrix.rows());
  multigrid.apply(r.view(), z.view(), A.device().stream());
  return {z.view().data, z.view().data + matrix.rows()};
}

/// Compressed rows join products with the steps that follow; slices do not.
template <class S>
void expect_same_bits(const MultigridOptions& options) {
  const auto matrix = poisson_over<real<S>>(3000);
  const std::vector<S> composed = applied<S>(matrix, "Sl-32", 1, options);
  EXPECT_EQ(applied<S>(matrix, "CSR", 1, options), composed);
  EXPECT_EQ(applied<S>(matrix, "CSR", 3, options), composed);
  EXPECT_EQ(applied<S>(matrix, "column-bits=16", 2, options), composed);
}

TEST(MultigridCycles, OfNumbersHaveTheBitsOfTheOperators) {
  for (const int degree : {0, 1}) {
    expect_same_bits<double>({.degree = degree, .coarsest = 20});
    expect_same_bits<float>({.degree = degree, .coarsest = 20});
  }
  expect_same_bits<double>({.smoother = Smoother::jacobi, .degree = 1, .coarsest = 20});
  expect_same_bits<double>({.cycle = Cycle::w, .coarsest = 20});
  expect_same_bits<double>({.coarsest = 20, .level_precision = StoredScalar::single});
}

}  // namespace
}  // namespace heddle::test::multigrid_cycles
