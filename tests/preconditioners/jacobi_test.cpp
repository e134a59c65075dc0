// Jacobi: the weights that it multiplies by, the matrices that it refuses, and the row that it
// names.
#include "heddle/jacobi.hpp"

#include <gtest/gtest.h>

#include <cmath>
#include <limits>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "support/few_entries.hpp"
#include "support/systems/dense_factors.hpp"
#include "support/systems/systems.hpp"

namespace heddle::test {
namespace {

constexpr const char* plans[] = {"CSR",       "pJDS",           "K1rs,C=8",
                                 "order=rcm", "CSR,vector=soa", "C=4,sigma=16,use=scatter"};

template <class E>
class JacobiEntries : public ::testing::Test {};
TYPED_TEST_SUITE(JacobiEntries, FewOf<AllEntries<double>>);

TYPED_TEST(JacobiEntries, MultipliesByInversesFromTheLeft) {
  using E = TypeParam;
  Generator generator(1);
  constexpr Index n = 70;
  const System<E> system = dominant_system<E>(n, 3, 0.5, generator);
  const auto expanded = expansion<double>(system.matrix);
  constexpr int K = vector_entry_t<E>::components;
  for (const char* plan : plans) {
    SCOPED_TRACE(plan);
    const Operator<E> A(system.matrix, parse_plan(plan));
    const Jacobi jacobi(A);
    Field<E> r = A.field(), z = A.field();
    fill_randomly(r, generator);
    jacobi.apply(r, z, A.device().stream());
    const auto rhs = components_of<double>(r), result = components_of<double>(z);
    for (Index row = 0; row < n; ++row) {
      const LuFactors<double> tile(Eigen::MatrixXd(expanded.block(row * K, row * K, K, K)));
      const Eigen::VectorXd expected = tile.inverse() * rhs.segment(row * K, K);
      EXPECT_TRUE((result.segment(row * K, K) - expected).norm() <= 1e-13 * expected.norm());
    }
    // Part by part it gives the same result.
    ASSERT_TRUE(jacobi.acts_by_rows());
    Field<E> in_parts = A.field();
    constexpr Index parts[] = {0, 1, 33, n};
    for (std::size_t part = 0; part + 1 < std::size(parts); ++part) {
      jacobi.apply_rows(r.view(), in_parts.view(), parts[part], parts[part + 1]);
    }
    EXPECT_EQ(bits_of(z), bits_of(in_parts));
  }
}

template <class E>
void expect_refused(const CsrMatrix<E>& matrix, Index row) {
  for (const char* plan : plans) {
    SCOPED_TRACE(plan);
    const Operator<E> A(matrix, parse_plan(plan));
    try {
      const Jacobi jacobi(A);
      ADD_FAILURE() << "accepted";
    } catch (const Error& error) {
      EXPECT_EQ(error.kind(), ErrorKind::singular);
      EXPECT_EQ(std::string(error.what()), "Jacobi: the diagonal entry of row " +
                                               std::to_string(row) +
                                               " (counted from 0) is not finite");
    }
  }
}

/// `row` counts as the tile `expected`.
template <class E>
void expect_weight(const CsrMatrix<E>& matrix, Index row, const Eigen::MatrixXd& expected,
                   unsigned seed) {
  using S = vector_scalar_t<E>;
  Generator generator(seed);
  for (const char* plan : plans) {
    SCOPED_TRACE(plan);
    const Operator<E> A(matrix, parse_plan(plan));
    const Jacobi jacobi(A);
    Field<E> r = A.field(), z = A.field();
    fill_randomly(r, generator);
    jacobi.apply(r, z, A.device().stream());
    const auto K = expected.rows();
    const Eigen::VectorXd given = components_of<double>(r).segment(row * K, K),
                          found = components_of<double>(z).segment(row * K, K);
    const double rounding = 8 * static_cast<double>(std::numeric_limits<S>::epsilon());
    EXPECT_TRUE((found - expected * given).norm() <= rounding * expected.norm() * given.norm());
  }
}

/// Rows of different lengths, so that sorted plans renumber them.
template <class E>
Tiles<E> uneven_tiles(Generator& generator) {
  Tiles<E> tiles(40);
  for (Index i = 0; i < 40; ++i) {
    tiles.at(i, i) = 2 * Eigen::MatrixXd::Identity(tiles.size, tiles.size);
    for (Index e = 0; e < i % 7; ++e) {
      tiles.at(i, (i + 3 * e + 1) % 40) += random_tile<E>(generator, 0.1);
    }
  }
  return tiles;
}

TYPED_TEST(JacobiEntries, NamesTheUsersFirstRowThatIsNotFinite) {
  using E = TypeParam;
  Generator generator(2);
  auto tiles = uneven_tiles<E>(generator);
  for (const Index row : {31, 17}) tiles.at(row, row)(0, 0) = std::nan("");
  expect_refused(tiles.assemble(), 17);
}

TYPED_TEST(JacobiEntries, CountsZerosAndMissingEntriesAsOne) {
  using E = TypeParam;
  Generator generator(7);
  auto tiles = uneven_tiles<E>(generator);
  const Eigen::MatrixXd one = Eigen::MatrixXd::Identity(tiles.size, tiles.size);
  tiles.at(31, 31).setZero();
  tiles.rows[23].erase(23);
  const auto matrix = tiles.assemble();
  for (const Index row : {31, 23}) expect_weight(matrix, row, one, 8);
}

template <class E>
class JacobiBlocks : public ::testing::Test {};
using Blocks = ::testing::Types<block<double, 2, 2>, block<double, 3, 3>, block<double, 4, 4>,
                                block<double, 6, 6>, block<complex<double>, 3, 3>,
                                block<float, 3, 3>, block<complex<float>, 3, 3>>;
TYPED_TEST_SUITE(JacobiBlocks, FewOf<Blocks>);

TYPED_TEST(JacobiBlocks, CountsBlocksOfLowRankAsOneOfTheirSize) {
  using E = TypeParam;
  for (unsigned seed = 1; seed <= 20; ++seed) {
    SCOPED_TRACE("seed " + std::to_string(seed));
    Generator generator(seed);
    auto tiles = uneven_tiles<E>(generator);
    // Columns that depend on the first one: of rank one, though not exactly so after rounding.
    constexpr int width = E::is_complex ? 2 : 1;
    Eigen::MatrixXd tile = random_tile<E>(generator, 1);
    for (Eigen::Index j = width; j < tile.cols(); j += width) {
      tile.middleCols(j, width) = tile.leftCols(width) * uniform(generator, 0.1, 1);
    }
    tiles.at(29, 29) = tile;
    const double largest = tile.cwiseAbs().maxCoeff();
    expect_weight(tiles.assemble(), 29,
                  Eigen::MatrixXd(Eigen::MatrixXd::Identity(tiles.size, tiles.size) / largest),
                  seed);
  }
}

/// The other numbers of a block keep their scale if one has nothing in its row and column.
TYPED_TEST(JacobiBlocks, CountsZerosOnTheirDiagonalsAsOne) {
  using E = TypeParam;
  Generator generator(9);
  auto tiles = uneven_tiles<E>(generator);
  constexpr Eigen::Index width = E::is_complex ? 2 : 1;
  Eigen::MatrixXd& tile = tiles.at(13, 13);
  tile *= 1000;
  tile.middleRows(0, width).setZero();
  tile.middleCols(0, width).setZero();
  Eigen::MatrixXd expected = tile;
  expected.topLeftCorner(width, width).setIdentity();
  const LuFactors<double> factors(expected);
  expect_weight(tiles.assemble(), 13, factors.inverse(), 10);
}

TEST(Jacobi, DualQuaternionsWithoutStandardPartCountAsOneWithThatPart) {
  using E = dual_quaternion<double>;
  Generator generator(3);
  auto tiles = uneven_tiles<E>(generator);
  E pure{};
  pure.component[5] = 1;
  tiles.at(12, 12) = tile_of(pure);
  const auto matrix = tiles.assemble();
  pure.component[0] = 1;
  const LuFactors<double> factors(tile_of(pure));
  expect_weight(matrix, 12, factors.inverse(), 11);
}

TEST(Jacobi, SmallAndLargeDiagonalsAreNotSingular) {
  for (const double magnitude : {1e-150, 1e-30, 1e30, 1e150}) {
    Generator generator(4);
    auto tiles = uneven_tiles<quaternion<double>>(generator);
    for (auto& row : tiles.rows) {
      for (auto& [column, tile] : row) tile *= magnitude;
    }
    const auto matrix = tiles.assemble();
    const Operator<quaternion<double>> A(matrix, Plan{});
    EXPECT_NO_THROW(Jacobi{A}) << magnitude;
  }
}

TEST(Jacobi, ASolveNamesTheRowThatIsNoLongerFinite) {
  using E = block<double, 3, 3>;
  Generator generator(5);
  auto tiles = uneven_tiles<E>(generator);
  Operator<E> A(tiles.assemble(), parse_plan("pJDS"));
  BiCGStab solver(A, Jacobi(A));
  const Field<E> b = random_vector<E>(40, generator);
  Field<E> x(40);
  EXPECT_TRUE(solver.solve(b, x).converged());
  auto changed = tiles;
  changed.at(9, 9)(1, 1) = std::nan("");
  const auto values = changed.assemble();
  A.update_values(values);
  try {
    solver.solve(b, x);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::singular);
    EXPECT_NE(std::string(error.what()).find("row 9 "), std::string::npos) << error.what();
  }
  const auto good = tiles.assemble();
  A.update_values(good);
  EXPECT_TRUE(solver.solve(b, x).converged());
}

TEST(Jacobi, RectangularMatricesAreRefused) {
  const Index offsets[] = {0, 1, 2};
  const Index columns[] = {0, 2};
  const double values[] = {1, 1};
  const CsrView<real<double>> view{2, 3, offsets, columns, values};
  const Operator<real<double>> A(view, parse_plan("use=scatter"));
  EXPECT_THROW(Jacobi{A}, Error);
}

TEST(ConjugateGradient, RefusesEntriesWithoutAdjoint) {
  using E = dual_quaternion<double>;
  Generator generator(6);
  const auto system = dominant_system<E>(10, 2, 0.5, generator);
  const Operator<E> A(system.matrix, Plan{});
  try {
    ConjugateGradient cg(A);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::unsupported);
    EXPECT_EQ(std::string(error.what()).find('\n'), std::string::npos);
    EXPECT_NE(std::string(error.what()).find("BiCGStab"), std::string::npos);
  }
}

TEST(TypedFront, ReadsAsTheDesignWritesIt) {
  using E = heddle::quaternion<double>;
  Generator generator(7);
  const auto matrix = random_system<E>(120, 3, 0.1, 0, generator).matrix;
  const auto b = random_vector<E>(matrix.rows(), generator);
  auto device = heddle::Device::cpu();
  heddle::Operator<E> A(matrix, heddle::parse_plan("K1rs"), device);
  heddle::ConjugateGradient cg(A, heddle::Jacobi(A), {.tolerance = 1e-10});
  heddle::Field<E> x(matrix.rows());
  heddle::Report report = cg.solve(b, x);
  EXPECT_TRUE(report.converged()) << report;
  EXPECT_TRUE(true_residual(matrix, b, x) <= 1e-10 * components_of<double>(b).norm() * 1.001);

  // Two matrices share a basis.
  using F = heddle::block<double, 3, 3>;
  const auto stiffness = random_system<F>(90, 3, 0.1, 0, generator).matrix;
  const auto mass = random_system<F>(90, 2, 0.1, 0, generator).matrix;
  const heddle::Plan plan = heddle::parse_plan("pJDS");
  heddle::CsrView<F> view = stiffness.view(), mass_view = mass.view();
  auto basis = heddle::Basis::make(view, plan);
  heddle::Operator<F> K(view, plan, basis), M(mass_view, plan, basis);
  heddle::ConjugateGradient solver(K, heddle::Jacobi(K), {.tolerance = 1e-8});
  heddle::BiCGStab other(M, heddle::Jacobi(M));
  heddle::BiCGStab plain(M);
  Field<F> rhs = random_vector<F>(90, generator), y(90), w(90), v(90);
  EXPECT_TRUE(solver.solve(rhs, y).converged());
  EXPECT_TRUE(other.solve(rhs, w).converged());
  EXPECT_TRUE(plain.solve(rhs, v).converged());
  EXPECT_TRUE(true_residual(stiffness, rhs, y) <= 1e-8 * components_of<double>(rhs).norm() * 1.001);
  EXPECT_TRUE(true_residual(mass, rhs, w) <= 1e-10 * components_of<double>(rhs).norm() * 1.001);
  std::vector<double> raw(270);
  solver.solve({rhs.scalars().data(), 90, 3}, {raw.data(), 90, 3});
  EXPECT_EQ(raw, bits_of(y));
}

}  // namespace
}  // namespace heddle::test
