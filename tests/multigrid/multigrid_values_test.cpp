// Multigrid for matrices with difficult values: weak connections, floats, ends of the range,
// energies that vanish or are negative, and new values.
#include <gtest/gtest.h>

#include <Eigen/Dense>
#include <array>
#include <cmath>
#include <limits>
#include <memory>
#include <string>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/multigrid.hpp"
#include "heddle/problems.hpp"
#include "support/expect_error.hpp"
#include "support/random_matrix.hpp"
#include "support/systems/multigrids.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test::multigrid_values {
namespace {

/// Iterations for b = A x with a random x, so that singular systems are consistent. `candidates`
/// are fields with the matrix's rows.
template <class E>
long long iterations_of(const CsrMatrix<E>& matrix, const MultigridOptions& options,
                        const char* plan = "CSR", double tolerance = 1e-8,
                        const Candidates<E>& candidates = {}) {
  Seed seed(21);
  const Operator<E> A(matrix, parse_plan(plan));
  const Field<E> exact = random_vector<E>(matrix.rows(), seed.generator);
  Field<E> b(matrix.rows());
  A.apply(1, exact.view(), 0, b.view(), A.device().stream());
  return iterations_with(A, b, options, candidates, {.tolerance = tolerance});
}

/// 26 at each point of a cube, -1 to all its neighbours: no neighbour exceeds 0.08 of 26.
CsrMatrix<real<double>> stencil_of_27(Index side) {
  TileRows tiles(1, side * side * side);
  const auto row_of = [&](Index x, Index y, Index z) { return (z * side + y) * side + x; };
  const auto for_each_near = [&](Index x, const auto& body) {
    for (Index near = std::max(x - 1, 0); near <= std::min(x + 1, side - 1); ++near) body(near);
  };
  for (Index row = 0; row < tiles.count(); ++row) {
    for_each_near(row / side / side, [&](Index z) {
      for_each_near(row / side % side, [&](Index y) {
        for_each_near(row % side, [&](Index x) { tiles.at(row, row_of(x, y, z))(0, 0) = -1; });
      });
    });
    tiles.at(row, row)(0, 0) = 26;
  }
  return assemble<real<double>>(tiles);
}

TEST(MultigridStrength, IsWeakenedWhereNoNeighbourIsStrong) {
  const auto matrix = stencil_of_27(16);
  const Operator<real<double>> A(matrix, Plan{});
  const auto report = make_multigrid(A, {.coarsest = 40}).report();
  ASSERT_GE(report.levels.size(), 3U);
  EXPECT_EQ(report.levels.front().strength, 0.02);
  EXPECT_TRUE(report.levels.back().is_solved);
  EXPECT_LT(report.operator_complexity, 1.5);
  EXPECT_LE(iterations_of(matrix, {.coarsest = 40}), 15);
}

TEST(MultigridStrength, LeavesRowsAloneThatTheirDiagonalDominates) {
  TileRows tiles(1, 700);
  for (Index i = 0; i < 700; ++i) tiles.at(i, i)(0, 0) = 2;
  const Operator<real<double>> alone(assemble<real<double>>(tiles), Plan{});
  EXPECT_TRUE(make_multigrid(alone, {}).report().is_smoother_alone());
  // Pairs, and rows whose connections are weak compared with their diagonal.
  for (Index i = 0; i + 1 < 700; ++i) {
    if (i % 3 != 2) tiles.at(i, i + 1)(0, 0) = tiles.at(i + 1, i)(0, 0) = i % 3 == 0 ? -1 : -1e-3;
  }
  const Operator<real<double>> pairs(assemble<real<double>>(tiles), Plan{});
  EXPECT_EQ(make_multigrid(pairs, {}).report().levels.front().strength, 0.08);
}

/// Free paths of eight rows, with conductances that floats round.
template <class E>
CsrMatrix<E> free_paths(Index count, double contrast = 4) {
  Seed seed(22);
  TileRows tiles(1, 8 * count);
  for (Index i = 0; i + 1 < tiles.count(); ++i) {
    if (i % 8 == 7) continue;
    const double conductance = std::pow(contrast, uniform(seed.generator) / 2);
    tiles.at(i, i)(0, 0) += conductance, tiles.at(i + 1, i + 1)(0, 0) += conductance;
    tiles.at(i, i + 1)(0, 0) = tiles.at(i + 1, i)(0, 0) = -conductance;
  }
  return assemble<E>(tiles);
}

/// Free trusses of six nodes in space.
template <class E>
CsrMatrix<E> free_bodies(Index count, std::vector<std::array<double, 3>>& points) {
  Seed seed(23);
  TileRows tiles(3, 6 * count);
  for (Index i = 0; i < tiles.count(); ++i) {
    points.push_back(
        {uniform(seed.generator), uniform(seed.generator), uniform(seed.generator) + i / 6 * 3});
  }
  const auto at = [&](Index i) {
    return Eigen::Map<const Eigen::Vector3d>(points[static_cast<std::size_t>(i)].data());
  };
  for (Index i = 0; i < tiles.count(); ++i) {
    for (Index j = i / 6 * 6; j < i; ++j) {
      const Eigen::Vector3d along = (at(i) - at(j)).normalized();
      const Eigen::Matrix3d bar = along * along.transpose();
      tiles.at(i, i) += bar, tiles.at(j, j) += bar;
      tiles.at(i, j) = tiles.at(j, i) = -bar;
    }
  }
  return assemble<E>(tiles);
}

TEST(MultigridFloats, RoundEnergiesThatVanish) {
  EXPECT_LE(iterations_of(free_paths<real<float>>(300), {}, "CSR", 1e-5), 15);
  for (const double contrast : {1e3, 1e4}) {  // solved exactly
    EXPECT_LE(iterations_of(free_paths<real<float>>(60, contrast), {}, "CSR", 1e-5), 15);
  }
  for (const double contrast : {1e2, 1e3, 1e6}) {  // with several levels
    EXPECT_LE(iterations_of(free_paths<real<float>>(300, contrast), {.coarsest = 60}, "CSR", 1e-4),
              15);
  }
  const auto paths = free_paths<real<double>>(300);
  EXPECT_LE(iterations_of(paths, {}), 15);
  EXPECT_LE(iterations_of(paths, {}, "CSR,iteration-precision=single"), 20);
  EXPECT_LE(iterations_of(paths, {.level_precision = StoredScalar::single}), 20);
  using E = block<float, 3, 3>;
  std::vector<std::array<double, 3>> points;
  const auto bodies = free_bodies<E>(100, points);
  EXPECT_LE(iterations_of(bodies, {}, "CSR", 1e-5), 40);
  std::vector<Field<E>> candidates;
  for (const auto& mode : rigid_body_modes<float>(points)) {
    Field<E>& field = candidates.emplace_back(bodies.rows());
    std::copy(mode.begin(), mode.end(), field.scalars().begin());
  }
  EXPECT_LE(iterations_of(bodies, {}, "CSR", 1e-5, candidates), 40);
}

TEST(MultigridScale, ChangesNothing) {
  const auto matrix = poisson(1500, 7);
  const auto scaled = [](CsrMatrix<real<double>> of, int exponent) {
    for (double& value : of.values()) value = std::ldexp(value, exponent);
    return of;
  };
  std::vector<Field<real<double>>> candidates;
  Field<real<double>>& field = candidates.emplace_back(matrix.rows());
  const MultigridOptions options{.coarsest = 50};
  const auto iterations = [&](int of_matrix, int of_candidate) {
    fill<double>(std::ldexp(1, of_candidate), field.view(), field.stream());
    return iterations_of(scaled(matrix, of_matrix), options, "CSR", 1e-8, candidates);
  };
  const long long expected = iterations(0, 0);
  for (const int exponent : {-530, 530}) {
    EXPECT_EQ(iterations(exponent, 0), expected);
    EXPECT_EQ(iterations(0, exponent), expected);
  }
  // Only the finest level is in 16 bits, which fit any range: floats would overflow or vanish.
  for (const int exponent : {-170, 140}) {
    EXPECT_LE(iterations_of(scaled(matrix, exponent), options, "CSR,iteration-precision=half"),
              5 * expected);
  }
}

void expect_indefinite(const CsrMatrix<real<double>>& matrix, const MultigridOptions& options) {
  expect_error(ErrorKind::unsupported,
               "multigrid: the matrix is not positive semidefinite; use jacobi, or none",
               [&] { make_multigrid(Operator<real<double>>(matrix, Plan{}), options); });
}

TEST(MultigridIndefinite, IsRefusedOnEveryLevel) {
  // Both diagonals are negative, but the inverse has positive ones.
  expect_indefinite(from_dense(Eigen::MatrixXd{{-1. / 3, 2. / 3}, {2. / 3, -1. / 3}}), {});
  expect_indefinite(from_dense(Eigen::MatrixXd{{0, 1}, {1, 0}}), {});
  // One eigenvalue is -1/2, but all diagonals of matrix and inverse are positive.
  const Eigen::MatrixXd ones = Eigen::MatrixXd::Ones(40, 40) / 40;
  expect_indefinite(from_dense(Eigen::MatrixXd::Identity(40, 40) - 1.5 * ones), {});
  // A small negative eigenvalue, which a coarse level finds.
  auto shifted = poisson(1500, 7, {.contrast = 0});
  const double shift = 0.005 * shifted.entry(0).component[0];
  for (Index i = 0; i < shifted.rows(); ++i) {
    for (Offset e = shifted.offsets()[i]; e < shifted.offsets()[i + 1]; ++e) {
      if (shifted.column()[e] == i) shifted.values()[e] -= 12 * shift;
    }
  }
  expect_indefinite(shifted, {.coarsest = 50});
  // The diagonal entry of a single row is negative.
  auto row = poisson(1500, 7);
  for (Offset e = row.offsets()[40]; e < row.offsets()[41]; ++e) {
    if (row.column()[e] == 40) row.values()[e] *= -1;
  }
  expect_indefinite(row, {.coarsest = 50});
}

TEST(MultigridNewValues, MayBeRefusedAndMayChangeWhatIsStrong) {
  // Conductances of `along` on one axis and `across` on the other.
  const auto grid = [](double along, double across) {
    constexpr Index side = 30;
    TileRows tiles(1, side * side);
    for (Index i = 0; i < tiles.count(); ++i) {
      tiles.at(i, i)(0, 0) = 2 * (along + across);
      if (i % side > 0) tiles.at(i, i - 1)(0, 0) = tiles.at(i - 1, i)(0, 0) = -along;
      if (i >= side) tiles.at(i, i - side)(0, 0) = tiles.at(i - side, i)(0, 0) = -across;
    }
    return assemble<real<double>>(tiles);
  };
  const auto first = grid(1, 1e-3);
  Operator<real<double>> A(first, Plan{});
  ConjugateGradient<double> solver(A, make_multigrid(A, {.coarsest = 50}));
  Field<real<double>> b(A.rows());
  fill<double>(1, b.view(), b.stream());
  const auto iterations = [&] {
    Field<real<double>> x(A.rows());
    const Report report = solver.solve(b, x);
    EXPECT_TRUE(report.converged()) << report;
    return report.iterations;
  };
  const long long expected = iterations();
  EXPECT_LE(expected, 15);
  // The aggregates stay, though a new hierarchy would have others.
  A.update_values(grid(1e-3, 1).values().span());
  const long long stale = iterations();
  EXPECT_GT(stale, expected);
  EXPECT_LE(stale, 60);
  auto negative = first;
  for (double& value : negative.values()) value = -value;
  A.update_values(negative.values().span());
  expect_error(ErrorKind::unsupported,
               "multigrid: the matrix is not positive semidefinite; use jacobi, or none",
               [&] { iterations(); });
  A.update_values(first.values().span());
  EXPECT_EQ(iterations(), expected);
}

TEST(MultigridNewValues, KeepTheSpectrumUnlessAskedFor) {
  const auto first = poisson(3000, 7);
  auto second = first;  // its diagonal becomes larger
  for (Index i = 0; i < second.rows(); ++i) {
    for (Offset e = second.offsets()[i]; e < second.offsets()[i + 1]; ++e) {
      if (second.column()[e] == i) second.values()[e] *= 1.2;
    }
  }
  const Operator<real<double>> fresh(second, Plan{});
  const double expected = make_multigrid(fresh, {.strength = 0}).report().levels.front().largest;
  for (const bool estimates_again : {false, true}) {
    Operator<real<double>> A(first, Plan{});
    auto multigrid = std::make_shared<Multigrid<double>>(
        make_multigrid(A, {.strength = 0, .estimates_again = estimates_again}));
    const double before = multigrid->report().levels.front().largest;
    EXPECT_GT(std::abs(before - expected), 0.05 * expected);
    ConjugateGradient<double> solver(A, std::shared_ptr<Preconditioner<double>>(multigrid));
    Field<real<double>> b(A.rows()), x(A.rows());
    fill<double>(1, b.view(), b.stream());
    A.update_values(second.values().span());
    const Report report = solver.solve(b, x);
    EXPECT_TRUE(report.converged()) << report;
    EXPECT_LE(report.iterations, 15);
    EXPECT_EQ(multigrid->report().levels.front().largest, estimates_again ? expected : before);
  }
}

/// A grid of 60 x 50 with conductances of 1, held at each point. Four points of one cell around
/// `corner` are connected to one another by `within` of the diagonal.
CsrMatrix<real<double>> grid_with_clique(Index corner, double within) {
  constexpr Index side = 60;
  TileRows tiles(1, side * 50);
  const auto set = [&](Index i, Index j, double value) {
    tiles.at(i, j)(0, 0) = tiles.at(j, i)(0, 0) = value;
  };
  for (Index i = 0; i < tiles.count(); ++i) {
    tiles.at(i, i)(0, 0) = 4.01;
    if (i % side > 0) set(i, i - 1, -1);
    if (i >= side) set(i, i - side, -1);
  }
  const Index clique[] = {corner, corner + 1, corner + side, corner + side + 1};
  for (const Index i : clique) {
    for (const Index j : clique) tiles.at(i, j)(0, 0) = i == j ? 100 : 100 * within;
  }
  return assemble<real<double>>(tiles);
}

TEST(MultigridNewValues, ShowAnEigenvalueThatGrowsInFewRows) {
  Seed seed(27);
  // D^-1 A has the eigenvalue 1 + 3 within, in addition to eigenvalues up to 2.
  for (const double within : {0.7, 0.9}) {
    for (const Index corner : {61, 1234, 1530, 2780}) {
      Operator<real<double>> A(grid_with_clique(corner, -0.01), Plan{});
      auto multigrid = std::make_shared<Multigrid<double>>(make_multigrid(A, {.coarsest = 50}));
      EXPECT_LE(multigrid->report().levels.front().largest, 2);
      ConjugateGradient<double> solver(A, std::shared_ptr<Preconditioner<double>>(multigrid));
      A.update_values(grid_with_clique(corner, within).values().span());
      const auto b = random_vector<real<double>>(A.rows(), seed.generator);
      Field<real<double>> x(A.rows());
      const Report report = solver.solve(b, x);
      EXPECT_TRUE(report.converged()) << report;
      EXPECT_LE(report.iterations, 20);
      EXPECT_GE(multigrid->report().levels.front().largest, 0.98 * (1 + 3 * within));
    }
  }
}

TEST(MultigridCandidates, AreCountedAndChecked) {
  using E = block<double, 3, 3>;
  Seed seed(24);
  const auto matrix = random_system<E>(900, 2, 0.2, 0, seed.generator).matrix;
  const Operator<E> A(matrix, Plan{});
  std::vector<Field<E>> candidates;
  for (int count = 1; count <= 5; ++count) {
    candidates.push_back(random_vector<E>(900, seed.generator));
    if (count <= 3) {
      EXPECT_GE(make_multigrid(A, {.strength = 0}, candidates).report().levels.size(), 2U);
      EXPECT_LE(iterations_of(matrix, {.strength = 0}, "CSR", 1e-8, candidates), 40);
      continue;
    }
    expect_error(ErrorKind::unsupported,
                 "multigrid: " + std::to_string(count) +
                     " candidates over entries of 3 x 3 numbers; the limit is 3, 6 over real "
                     "blocks of 3 x 3, and 3 over those of 2 x 2",
                 [&] { make_multigrid(A, {}, candidates); });
  }
  candidates.resize(1);
  candidates[0].view().at(17, 1) = std::numeric_limits<double>::quiet_NaN();
  expect_error(ErrorKind::not_finite, "multigrid: a candidate has a component that is not finite",
               [&] { make_multigrid(A, {}, candidates); });
  candidates[0] = random_vector<E>(800, seed.generator);
  EXPECT_THROW(make_multigrid(A, {}, candidates), Error);
}

TEST(MultigridEntries, MayBeBlocksOfTwoOrOfComplexNumbers) {
  Seed seed(25);
  using C = block<complex<double>, 2, 2>;
  const auto complex_blocks = random_system<C>(900, 2, 0.2, 0, seed.generator).matrix;
  EXPECT_LE(iterations_of(complex_blocks, {.coarsest = 100}), 40);
  using E = block<double, 2, 2>;
  const auto blocks = random_system<E>(900, 2, 0.2, 0, seed.generator).matrix;
  std::vector<Field<E>> three;
  for (int k = 0; k < 3; ++k) three.push_back(random_vector<E>(900, seed.generator));
  const Operator<E> A(blocks, Plan{});
  EXPECT_EQ(make_multigrid(A, {.coarsest = 100}, three).report().levels.back().components, 3);
  EXPECT_LE(iterations_of(blocks, {.coarsest = 100}, "CSR", 1e-8, three), 40);
}

TEST(RigidBodyModes, DependOnNoUnit) {
  Seed seed(26);
  std::vector<std::array<double, 3>> points(9000), large;  // several groups of rows
  for (auto& point : points) {
    for (double& x : point) x = uniform(seed.generator);
    large.push_back({1024 * point[0], 1024 * point[1], 1024 * point[2]});
  }
  for (const int dimension : {2, 3}) {
    const auto modes = rigid_body_modes<double>(points, dimension);
    EXPECT_EQ(modes, rigid_body_modes<double>(large, dimension));
    const auto on_device = rigid_body_modes<double>(points, dimension, Device::cpu(3));
    ASSERT_EQ(on_device.size(), modes.size());
    for (std::size_t k = 0; k < modes.size(); ++k) EXPECT_EQ(on_device[k].to_host(), modes[k]);
    double longest = 0;
    for (std::size_t i = 0; i < points.size(); ++i) {
      double squared = 0;
      for (int c = 0; c < dimension; ++c) {
        squared += std::pow(modes[2 + (dimension == 3 ? 1 : 0)][i * dimension + c], 2);
      }
      longest = std::max(longest, std::sqrt(squared));
    }
    EXPECT_LE(longest, 1 + 1e-12);
    // In the plane a rotation moves the farthest point by 1.
    EXPECT_GE(longest, dimension == 2 ? 1 - 1e-12 : 0.0);
  }
  const std::vector<std::array<double, 3>> one(3, {1, 2, 3});
  EXPECT_EQ(rigid_body_modes<double>(one)[0][3], 1);
  EXPECT_EQ(rigid_body_modes<double>(one)[4][3], 0);
}

}  // namespace
}  // namespace heddle::test::multigrid_values
