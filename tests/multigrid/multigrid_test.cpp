// Runs in both builds.
// Multigrid as a preconditioner: its cycle as a dense matrix, gauges, patterns of every kind, new
// values and refusals.
#include "heddle/multigrid.hpp"

#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <cmath>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/problems.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/dense_map.hpp"
#include "support/systems/multigrids.hpp"
#include "support/systems/systems.hpp"
#include "support/where_it_runs.hpp"

namespace heddle::test::multigrid {
namespace {

template <class E>
class MultigridOf : public ::testing::Test {};
using Entries =
    ::testing::Types<real<double>, complex<float>, quaternion<double>, block<double, 3, 3>>;
TYPED_TEST_SUITE(MultigridOf, FewWhereSanitized<Entries>);

TYPED_TEST(MultigridOf, HasAHermitianPositiveCycle) {
  HEDDLE_RELEASE_ONLY();
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(11);
  const auto system = random_system<E>(40, 2, 0.2, 0, seed.generator);
  constexpr std::pair<Smoother, int> smoothers[] = {
      {Smoother::chebyshev, 0},    {Smoother::chebyshev, 1},   {Smoother::chebyshev, 3},
      {Smoother::jacobi, 2},       {Smoother::l1_jacobi, 1},   {Smoother::l1_jacobi, 2},
      {Smoother::gauss_seidel, 1}, {Smoother::gauss_seidel, 2}};
  for (const char* plan : {"CSR", "order=rcm,C=4,sigma=16,vector=soa"}) {
    const Operator<E> A(system.matrix, parse_plan(plan));
    for (const Cycle cycle : {Cycle::v, Cycle::w}) {
      for (const auto& [smoother, degree] : smoothers) {
        SCOPED_TRACE(std::string(plan) + ", smoother " +
                     std::to_string(static_cast<int>(smoother)) + " of degree " +
                     std::to_string(degree));
        const auto preconditioner = make_multigrid(
            A, {.cycle = cycle,
                .smoother = smoother,
                .interpolation = degree == 2 ? Interpolation::plain : Interpolation::smoothed,
                .degree = degree,
                .strength = 0.02,
                .coarsest = 16});
        EXPECT_EQ(preconditioner.report().levels.front().colours > 0,
                  smoother == Smoother::gauss_seidel);
        EXPECT_GE(preconditioner.report().levels.size(), 2U);
        const DenseMap dense = dense_of(A, preconditioner);
        const long double rounding = 1e3L * std::numeric_limits<S>::epsilon();
        EXPECT_LE((dense - dense.transpose()).norm(), rounding * dense.norm());
        EXPECT_TRUE(is_positive_definite(dense));
        // The cycle converges as an iteration of its own.
        const DenseMap left = DenseMap::Identity(dense.rows(), dense.cols()) -
                              dense * expansion<long double>(system.matrix);
        EXPECT_LT(spectral_radius(left.cast<double>()), 1);
      }
    }
  }
}

TYPED_TEST(MultigridOf, IsTheSameForAnyNumberOfThreadsAndForNewValues) {
  HEDDLE_RELEASE_ONLY();
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(12);
  const auto system = random_system<E>(3000, 2, 0.2, 0, seed.generator);
  const Field<E> r = random_vector<E>(3000, seed.generator);
  const auto image = [&](const Operator<E>& A, const Preconditioner<S>& preconditioner) {
    Field<E> z(A.rows());
    preconditioner.apply(r.view(), z.view(), A.device().stream());
    return std::vector<S>(z.scalars().begin(), z.scalars().end());
  };
  const Operator<E> one(system.matrix, Plan{}, Device::cpu(1));
  for (const MultigridOptions& options :
       {MultigridOptions{},
        {.cycle = Cycle::k, .smoother = Smoother::gauss_seidel, .coarsest = 50},
        {.smoother = Smoother::l1_jacobi},
        {.level_precision = StoredScalar::single},
        {.interpolation = Interpolation::plain, .coarsest = 50}}) {
    const auto expected = image(one, make_multigrid(one, options));
    for (const int threads : {2, 3}) {
      const Operator<E> A(system.matrix, Plan{}, Device::cpu(threads));
      EXPECT_EQ(image(A, make_multigrid(A, options)), expected);
    }
  }
  // Values change from multiples back to these: for a power of 4 the estimates have the same bits.
  for (const Smoother smoother :
       {Smoother::chebyshev, Smoother::l1_jacobi, Smoother::gauss_seidel}) {
    for (const bool estimates_again : {false, true}) {
      MultigridOptions options{.smoother = smoother, .strength = 0};
      if (estimates_again) options.level_precision = StoredScalar::single;
      const auto unscaled = image(one, make_multigrid(one, options));
      auto other = system.matrix;
      for (auto& value : other.values()) value *= estimates_again ? 3 : 4;
      Operator<E> A(other, Plan{}, Device::cpu(2));
      options.estimates_again = estimates_again;
      auto preconditioner = make_multigrid(A, options);
      A.update_values(system.matrix.values().span());
      preconditioner.refresh();
      EXPECT_EQ(image(A, preconditioner), unscaled);
    }
  }
}

template <class E>
long long iterations_of(const CsrMatrix<E>& matrix, const Field<E>& b,
                        const MultigridOptions& options, const Candidates<E>& candidates = {},
                        const char* plan = "CSR") {
  return iterations_with(Operator<E>(matrix, parse_plan(plan)), b, options, candidates);
}

constexpr MultigridOptions small_levels = {.coarsest = 64};

/// g_i a_ij conj(g_j) for units g, with one candidate for each column of g's tile over the ring.
template <class E>
void expect_gauge_to_change_nothing(int columns_of_candidates) {
  Seed seed(13);
  Generator& generator = seed.generator;
  const auto scalar = poisson(4000, 7);
  const Field<real<double>> ones = [&] {
    Field<real<double>> field(scalar.rows());
    fill<double>(1, field.view(), field.stream());
    randomize<double>(field.view(), 2, field.stream());
    return field;
  }();
  constexpr int K = vector_entry_t<E>::components;
  std::vector<Eigen::MatrixXd> g;
  for (Index i = 0; i < scalar.rows(); ++i) {
    Eigen::MatrixXd tile = random_tile<E>(generator, 1);
    if (columns_of_candidates > 1)
      tile = orthogonal_factor(tile);
    else
      tile /= tile.col(0).norm();
    g.push_back(tile);
  }
  TileRows tiles(K, scalar.rows());
  for (Index i = 0; i < scalar.rows(); ++i) {
    for (Offset e = scalar.offsets()[i]; e < scalar.offsets()[i + 1]; ++e) {
      const Index j = scalar.column()[e];
      tiles.at(i, j) = scalar.values()[e] * g[i] * g[j].transpose();
    }
  }
  const auto matrix = assemble<E>(tiles);
  Candidates<E> candidates;
  Field<E> b(scalar.rows());
  for (int c = 0; c < columns_of_candidates; ++c) {
    Field<E>& field = candidates.emplace_back(scalar.rows());
    for (Index i = 0; i < scalar.rows(); ++i) {
      for (int k = 0; k < K; ++k) {
        field.view().at(i, k) = g[i](k, c);
        b.view().at(i, k) = ones.view().at(i, 0) * g[i](k, 0);
      }
    }
  }
  const auto expected = static_cast<double>(iterations_of(scalar, ones, small_levels));
  for (const char* plan : {"CSR", "order=rcm,C=4,sigma=16,vector=soa"}) {
    EXPECT_NEAR(static_cast<double>(iterations_of(matrix, b, small_levels, candidates, plan)),
                expected, 1);
  }
  // Without candidates, a gauge leaves nothing for a coarse level to find.
  EXPECT_GT(static_cast<double>(iterations_of(matrix, b, small_levels)), expected + 5);
}

TEST(MultigridGauges, ChangeNothingOverComplexNumbers) {
  HEDDLE_RELEASE_ONLY();
  expect_gauge_to_change_nothing<complex<double>>(1);
}
TEST(MultigridGauges, ChangeNothingOverQuaternions) {
  HEDDLE_RELEASE_ONLY();
  expect_gauge_to_change_nothing<quaternion<double>>(1);
}
TEST(MultigridGauges, ChangeNothingOverRotations) {
  HEDDLE_RELEASE_ONLY();
  expect_gauge_to_change_nothing<block<double, 3, 3>>(3);
}

TEST(MultigridCandidates, OfAQuaternionAreFourOfItsExpansion) {
  Seed seed(14);
  const auto system = random_system<quaternion<double>>(2000, 2, 0.01, 0, seed.generator);
  TileRows tiles(4, system.matrix.rows());
  for (Index i = 0; i < system.matrix.rows(); ++i) {
    for (Offset e = system.matrix.offsets()[i]; e < system.matrix.offsets()[i + 1]; ++e) {
      tiles.at(i, system.matrix.column()[e]) = tile_of(system.matrix.entry(e));
    }
  }
  const auto expanded = assemble<block<double, 4, 4>>(tiles);
  Field<quaternion<double>> b = random_vector<quaternion<double>>(2000, seed.generator);
  Candidates<quaternion<double>> one;
  one.push_back(random_vector<quaternion<double>>(2000, seed.generator));
  Candidates<block<double, 4, 4>> four;
  Field<block<double, 4, 4>> b4(2000);
  for (int c = 0; c < 4; ++c) {
    Field<block<double, 4, 4>>& field = four.emplace_back(2000);
    quaternion<double> unit = quaternion<double>::zero();
    unit.component[c] = 1;
    for (Index i = 0; i < 2000; ++i) {
      auto product = quaternion<double>::zero();
      multiply_add(product, one[0][i], unit);
      for (int k = 0; k < 4; ++k) {
        field.view().at(i, k) = product.component[k];
        b4.view().at(i, k) = b.view().at(i, k);
      }
    }
  }
  EXPECT_NEAR(static_cast<double>(iterations_of(system.matrix, b, small_levels, one)),
              static_cast<double>(iterations_of(expanded, b4, small_levels, four)), 1);
}

TEST(AdaptiveCandidates, AreOrthogonal) {
  // Two free chains, except for springs of 1e-8 and 1e-2 at each point, with their components mixed
  // at every point.
  using E = block<double, 2, 2>;
  constexpr Index n = 200;
  const Eigen::Matrix2d turn{{0.8, -0.6}, {0.6, 0.8}};
  const Eigen::Vector2d springs(1e-8, 1e-2);
  TileRows tiles(2, n);
  for (Index i = 0; i < n; ++i) {
    const int neighbours = (i > 0) + (i + 1 < n);
    tiles.at(i, i) =
        neighbours * Eigen::Matrix2d::Identity() + turn * springs.asDiagonal() * turn.transpose();
    if (i > 0) tiles.at(i, i - 1) = tiles.at(i - 1, i) = -Eigen::Matrix2d::Identity();
  }
  const Operator<E> A(assemble<E>(tiles), Plan{});
  const auto candidates = adaptive_candidates<double>(A, 0, {.coarsest = 50});
  ASSERT_EQ(candidates.size(), 2U);
  const Eigen::Map<const Eigen::VectorXd> first(candidates[0].data(), 2 * n);
  const Eigen::Map<const Eigen::VectorXd> second(candidates[1].data(), 2 * n);
  EXPECT_DOUBLE_EQ(first.cwiseAbs().maxCoeff(), 1);  // by a reciprocal, which rounds
  EXPECT_DOUBLE_EQ(second.cwiseAbs().maxCoeff(), 1);
  EXPECT_LE(std::abs(first.dot(second)), 1e-12 * first.norm() * second.norm());
}

TEST(MultigridElasticity, TakesTheMotionsOfARigidBody) {
  HEDDLE_RELEASE_ONLY();
  using E = block<double, 3, 3>;
  const TetrahedronMesh mesh = random_solid(4000);
  const auto matrix = elasticity(mesh);
  const auto candidates = motions_of(mesh);
  Field<E> b(matrix.rows());
  fill<double>(1, b.view(), b.stream());
  const long long with = iterations_of(matrix, b, {}, candidates);
  EXPECT_LE(with, 20);
  EXPECT_LT(with, iterations_of(matrix, b, {}));
  // With iteration-precision=single the hierarchy is in floats.
  EXPECT_LE(iterations_of(matrix, b, {}, candidates, "CSR,iteration-precision=single"), 30);
}

TEST(MultigridPoisson, HardlyDependsOnTheSize) {
  HEDDLE_RELEASE_ONLY();
  std::vector<long long> iterations;
  for (const Index size : {1000, 30000}) {
    const auto matrix = poisson(size, 1, {.contrast = 0});
    Field<real<double>> b(matrix.rows());
    fill<double>(1, b.view(), b.stream());
    iterations.push_back(iterations_of(matrix, b, {.coarsest = 100}));
    EXPECT_LE(iterations_of(matrix, b, {.coarsest = 100, .level_precision = StoredScalar::single}),
              iterations.back() + 1);
  }
  EXPECT_LE(static_cast<double>(iterations[1]), 1.6 * static_cast<double>(iterations[0]));
  EXPECT_LE(iterations[1], 14);
}

/// Solves for A x with a random x, so that singular systems are consistent.
void expect_solved(const CsrMatrix<real<double>>& matrix, const MultigridOptions& options) {
  Seed seed(15);
  const Operator<real<double>> A(matrix, Plan{});
  Field<real<double>> exact = random_vector<real<double>>(matrix.rows(), seed.generator);
  Field<real<double>> b(matrix.rows()), x(matrix.rows());
  A.apply(1, exact.view(), 0, b.view(), A.device().stream());
  ConjugateGradient<double> solver(A, make_multigrid(A, options));
  const Report report = solver.solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
}

TEST(MultigridPatterns, OfEveryKindAreSolved) {
  Seed seed(16);
  Generator& generator = seed.generator;
  const auto laplacian = [&](Index n, int edges, bool has_isolated, double shift) {
    Eigen::MatrixXd dense = Eigen::MatrixXd::Zero(n, n);
    for (int e = 0; e < edges; ++e) {
      const Index i = std::uniform_int_distribution<Index>(0, n - 1)(generator);
      const Index j = std::uniform_int_distribution<Index>(0, n - 1)(generator);
      if (i == j || (has_isolated && (i % 5 == 0 || j % 5 == 0))) continue;
      dense(i, i) += 1, dense(j, j) += 1;
      dense(i, j) -= 1, dense(j, i) -= 1;
    }
    // Dirichlet rows and shifted rows.
    for (Index i = 0; i < n; ++i) dense(i, i) += dense(i, i) == 0 ? 1 : shift;
    return from_dense(dense);
  };
  for (const int coarsest : {1, 8, 500}) {
    for (const Index n : {0, 1, 2, 3, 40, 150}) {
      for (const double shift : {0.0, 1e-3, 10.0}) {
        for (const int edges : {0, n, 4 * n}) {
          SCOPED_TRACE(std::to_string(n) + " rows, " + std::to_string(edges) + " edges, shift " +
                       std::to_string(shift) + ", coarsest " + std::to_string(coarsest));
          expect_solved(laplacian(n, edges, edges == n, shift), {.coarsest = coarsest});
        }
      }
    }
  }
  // One row is connected to all others: one aggregate.
  Eigen::MatrixXd star = Eigen::MatrixXd::Identity(60, 60) * 2;
  star(0, 0) = 70;
  for (Index i = 1; i < 60; ++i) star(0, i) = star(i, 0) = -1;
  expect_solved(from_dense(star), {.coarsest = 8});
}

TEST(MultigridRefusals, NameWhatDoesNotSuit) {
  Seed seed(17);
  const auto refuse = [](ErrorKind kind, const std::string& why, const auto& make_it) {
    expect_error(kind, "multigrid" + why, make_it);
  };
  const auto general = general_system<real<double>>(700, seed.generator);
  refuse(ErrorKind::unsupported, ": the matrix is not Hermitian; use jacobi, or none",
         [&] { make_multigrid(Operator<real<double>>(general.matrix, Plan{}), {}); });
  const auto dual = general_system<dual_quaternion<double>>(9, seed.generator);
  refuse(ErrorKind::unsupported,
         ": it needs P* A P, and these entries have no adjoint; use jacobi, or none",
         [&] { make_multigrid(Operator<dual_quaternion<double>>(dual.matrix, Plan{}), {}); });
  auto negative = poisson(700);
  for (double& value : negative.values()) value = -value;
  EXPECT_THROW(make_multigrid(Operator<real<double>>(negative, Plan{}), {}), Error);
  const Operator<complex<double>> A(
      random_system<complex<double>>(50, 2, 0.2, 0, seed.generator).matrix, Plan{});
  Candidates<complex<double>> two;
  two.emplace_back(50), two.emplace_back(50);
  refuse(ErrorKind::unsupported,
         ": 2 candidates over entries of 1 x 1 numbers; the limit is 1, 6 over real blocks of "
         "3 x 3, and 3 over those of 2 x 2",
         [&] { make_multigrid(A, {}, two); });
  refuse(ErrorKind::usage, ": the smoother's degree is 0 or more",
         [&] { make_multigrid(A, {.degree = -1}); });
  refuse(ErrorKind::usage, ": this smoother takes 1 sweep or more",
         [&] { make_multigrid(A, {.smoother = Smoother::gauss_seidel, .degree = 0}); });
  refuse(ErrorKind::usage, ": the strength of a connection is at least 0 and below 1",
         [&] { make_multigrid(A, {.strength = 1}); });
  refuse(ErrorKind::usage, ": the coarsest level has 1 to 4096 scalars",
         [&] { make_multigrid(A, {.coarsest = 0}); });
  refuse(ErrorKind::usage, ": the precision of its levels is that of the matrix, or single",
         [&] { make_multigrid(A, {.level_precision = StoredScalar::half}); });
}

/// A path with diagonal tiles diag(1, 1, 0.1); the third number is coupled by `coupling` times D.
CsrMatrix<block<double, 3, 3>> uneven_path(double coupling) {
  TileRows tiles(3, 200);
  for (Index i = 0; i < tiles.count(); ++i) {
    for (int k = 0; k < 3; ++k) {
      const double own = k == 2 ? 0.1 : 1;
      tiles.at(i, i)(k, k) = own;
      if (i == 0) continue;
      tiles.at(i, i - 1)(k, k) = tiles.at(i - 1, i)(k, k) = -own * (k == 2 ? coupling : 0.2);
    }
  }
  return assemble<block<double, 3, 3>>(tiles);
}

TEST(MultigridNewValues, ShowAnEigenvalueThatGrowsNextToUnevenDiagonalTiles) {
  Operator<block<double, 3, 3>> A(uneven_path(0.2), Plan{});
  auto multigrid = std::make_shared<Multigrid<double>>(make_multigrid(A, {.coarsest = 50}));
  EXPECT_LE(multigrid->report().levels.front().largest, 1.4);
  ConjugateGradient<double> solver(A, std::shared_ptr<Preconditioner<double>>(multigrid));
  A.update_values(uneven_path(0.49).values().span());
  Seed seed(28);
  const auto b = random_vector<block<double, 3, 3>>(A.rows(), seed.generator);
  Field<block<double, 3, 3>> x(A.rows());
  EXPECT_TRUE(solver.solve(b, x).converged());
  EXPECT_GE(multigrid->report().levels.front().largest, 0.95 * 1.98);
}

}  // namespace
}  // namespace heddle::test::multigrid
