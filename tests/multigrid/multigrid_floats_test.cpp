// Multigrid levels in floats for a matrix and fields in double.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <random>
#include <type_traits>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/problems.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/dense_map.hpp"
#include "support/systems/multigrids.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::multigrid_floats {
namespace {

template <class E>
class LevelsInFloatsOf : public ::testing::Test {};
using Entries =
    ::testing::Types<real<double>, complex<float>, quaternion<double>, block<double, 3, 3>>;
TYPED_TEST_SUITE(LevelsInFloatsOf, FewWhereSanitized<Entries>);

TYPED_TEST(LevelsInFloatsOf, HaveTheSameCycle) {
  using E = TypeParam;
  Seed seed(19);
  const auto system = random_system<E>(40, 2, 0.2, 0, seed.generator);
  // For a matrix in floats, the levels have no other precision.
  const long double rounding = std::is_same_v<vector_scalar_t<E>, float> ? 0 : 1e-5L;
  for (const char* plan : {"CSR", "order=rcm,C=4,sigma=16,vector=soa,inner=aosoa16",
                           "CSR,iteration-precision=single"}) {
    SCOPED_TRACE(plan);
    const Operator<E> A(system.matrix, parse_plan(plan));
    for (const Smoother smoother : {Smoother::chebyshev, Smoother::gauss_seidel}) {
      MultigridOptions options{.smoother = smoother, .strength = 0.02, .coarsest = 16};
      const DenseMap wide = dense_of(A, make_multigrid(A, options));
      options.level_precision = StoredScalar::single;
      const DenseMap narrow = dense_of(A, make_multigrid(A, options));
      EXPECT_FALSE(!((narrow - wide).norm() <= rounding * wide.norm()));
      EXPECT_TRUE(is_positive_definite(narrow));
    }
  }
}

/// A longer solid has rotation energies that are far smaller.
TEST(LevelsInFloats, TakeTheMotionsOfARigidBody) {
  using E = block<double, 3, 3>;
  for (const double stretch : {1.0, 6.0}) {
    TetrahedronMesh mesh = random_solid(2000);
    for (auto& point : mesh.position) point[2] *= stretch;
    const auto matrix = elasticity(mesh);
    const Operator<E> A(matrix, Plan{});
    const auto candidates = motions_of(mesh);
    Field<E> b(matrix.rows());
    fill<double>(1, b.view(), b.stream());
    // In double the longer solid's residual stops at 1e-10, at a backward error of one rounding.
    const SolverOptions until{.tolerance = 1e-9};
    const MultigridOptions floats{.level_precision = StoredScalar::single};
    EXPECT_LE(iterations_with(A, b, floats, candidates, until),
              iterations_with(A, b, {}, candidates, until) + 1);
  }
}

/// shift + 4 on a periodic grid with -g_i conj(g_j) on its links, whose near-null field is g.
TEST(LevelsInFloats, TakeNearlySingularGauges) {
  using E = complex<double>;
  constexpr Index side = 40;
  Seed seed(23);
  std::uniform_real_distribution<double> angle(0, 6);
  Candidates<E> candidates;
  Field<E>& g = candidates.emplace_back(side * side);
  TileRows tiles(2, side * side);
  std::vector<Eigen::Matrix2d> rotations;
  for (Index i = 0; i < tiles.count(); ++i) {
    const double a = angle(seed.generator);
    rotations.push_back(Eigen::Matrix2d{{std::cos(a), -std::sin(a)}, {std::sin(a), std::cos(a)}});
    for (int k = 0; k < 2; ++k) g.view().at(i, k) = rotations.back()(k, 0);
  }
  for (Index i = 0; i < tiles.count(); ++i) {
    const Index next = i % side + 1 < side ? i + 1 : i + 1 - side;
    for (const Index j : {next, (i + side) % tiles.count()}) {
      const auto at = [&](Index k) { return rotations[static_cast<std::size_t>(k)]; };
      tiles.at(i, j) = -at(i) * at(j).transpose();
      tiles.at(j, i) = tiles.at(i, j).transpose();
    }
  }
  const auto exact = random_vector<E>(tiles.count(), seed.generator);
  for (const double shift : {1e-2, 1e-5, 1e-8}) {
    SCOPED_TRACE(shift);
    for (Index i = 0; i < tiles.count(); ++i) {
      tiles.at(i, i) = (4 + shift) * Eigen::Matrix2d::Identity();
    }
    const Operator<E> A(assemble<E>(tiles), Plan{});
    Field<E> b(A.rows());
    A.apply(1, exact.view(), 0, b.view(), b.stream());
    for (const double tolerance : {1e-10, 1e-12}) {
      const SolverOptions until{.tolerance = tolerance};
      MultigridOptions options{.coarsest = 40};
      const long long expected = iterations_with(A, b, options, candidates, until);
      options.level_precision = StoredScalar::single;
      EXPECT_LE(iterations_with(A, b, options, candidates, until), expected);
    }
  }
}

/// The squared Dirac operator with its shift.
TEST(LevelsInFloats, TakeTheIterationsOfDoublesOverQuaternions) {
  using E = quaternion<double>;
  Seed seed(24);
  const Operator<E> A(dirac(2000), Plan{});
  const auto b = random_vector<E>(A.rows(), seed.generator);
  for (const double tolerance : {1e-10, 1e-12}) {
    const SolverOptions until{.tolerance = tolerance};
    const MultigridOptions floats{.level_precision = StoredScalar::single};
    EXPECT_LE(iterations_with(A, b, floats, {}, until), iterations_with(A, b, {}, {}, until));
  }
}

TEST(LevelsInFloats, PreconditionDoubles) {
  const MultigridOptions options{.coarsest = 50, .level_precision = StoredScalar::single};
  const auto matrix = poisson(1500, 7);
  Field<real<double>> exact(matrix.rows());
  fill<double>(1, exact.view(), exact.stream());
  const Operator<real<double>> plain(matrix, Plan{});
  const SolverOptions until{.tolerance = 1e-12};
  const long long expected = iterations_with(plain, exact, {.coarsest = 50}, {}, until);
  EXPECT_LE(iterations_with(plain, exact, options, {}, until), expected + 1);
  // Residuals and values are far from 1.
  Seed seed(22);
  const auto b = random_vector<real<double>>(matrix.rows(), seed.generator);
  for (const int exponent : {-100, 0, 100}) {
    auto scaled = matrix;
    for (double& value : scaled.values()) value = std::ldexp(value, exponent);
    const Operator<real<double>> A(scaled, Plan{});
    ConjugateGradient<double> solver(A, make_multigrid(A, options));
    for (const int of_b : {-240, 240}) {
      Field<real<double>> right(matrix.rows()), x(matrix.rows());
      permute<double>(b.view(), right.view(), std::ldexp(1, of_b), right.stream());
      const Report report = solver.solve(right, x);
      EXPECT_TRUE(report.converged()) << report;
      EXPECT_LE(report.iterations, expected);
    }
  }
  const auto multigrid = make_multigrid(plain, options);
  std::vector<double> gaps(static_cast<std::size_t>(2 * matrix.rows()));
  FieldView<const double> with_gaps(gaps.data(), matrix.rows());
  with_gaps.entry_stride = 2;
  Field<real<double>> z(matrix.rows());
  expect_error(ErrorKind::size_mismatch, "multigrid: the fields differ in layout; copy one first",
               [&] { multigrid.apply(with_gaps, z.view(), z.stream()); });
  for (const int exponent : {-170, 140}) {
    auto scaled = matrix;
    for (double& value : scaled.values()) value = std::ldexp(value, exponent);
    expect_error(ErrorKind::unsupported,
                 "multigrid: the matrix has values beyond the range of floats, which levels in "
                 "single precision use; scale it, or use full precision",
                 [&] { make_multigrid(Operator<real<double>>(scaled, Plan{}), options); });
  }
}

}  // namespace
}  // namespace heddle::test::multigrid_floats
