// Runs in both builds.
// A x, A* x and A^T x with one tree, compared with products in long double, and used in solvers.
#include <gtest/gtest.h>

#include <cmath>
#include <limits>
#include <thread>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/gmres.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/lsmr.hpp"
#include "heddle/operator.hpp"
#include "hierarchical/trees.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"

namespace hierarchical_product {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class Products : public testing::Test {};
TYPED_TEST_SUITE(Products, FewWhereSanitized<TreeEntries>);

TYPED_TEST(Products, AgreeWithTheDenseReference) {
  using E = TypeParam;
  Seed seed(21);
  expect_products_of_all_shapes<E>(Device::cpu(), seed.generator);
}

TYPED_TEST(Products, TellResidualsAndDots) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(22);
  const CsrMatrix<E> matrix = random_matrix<E>({.rows = 700, .columns = 700}, seed.generator);
  const HierarchicalMatrix<E> tree(matrix, 64);
  const Operator<E> sliced(matrix, parse_plan("CSR"));
  const Stream stream = tree.device().stream();
  const auto x = random_field<E>(700, seed.generator);
  const auto b = random_field<E>(700, seed.generator);
  Field<E> y(700), r(700), y_of_sliced(700), r_of_sliced(700);
  Reduction<S> reduction(700);
  const auto near = [](double a, double c, double scale) {
    EXPECT_NEAR(a, c, 200 * std::numeric_limits<S>::epsilon() * scale);
  };
  const double dot = tree.apply_dot(x.view(), y.view(), reduction, stream);
  near(dot, sliced.apply_dot(x.view(), y_of_sliced.view(), reduction, stream), 1000);
  const double squared = tree.residual(b.view(), x.view(), r.view(), reduction, stream);
  const double other = sliced.residual(b.view(), x.view(), r_of_sliced.view(), reduction, stream);
  EXPECT_NEAR(squared, other, 1e-6 * other);
  for (std::size_t i = 0; i < r.scalars().size(); ++i) {
    near(r.scalars()[i], r_of_sliced.scalars()[i], 10);
    near(y.scalars()[i], y_of_sliced.scalars()[i], 10);
  }
  // Fields in planes reach the same bits by another path.
  Field<E> x_in_planes(700, Device::cpu(), VectorLayout::soa);
  Field<E> y_in_planes(700, Device::cpu(), VectorLayout::soa);
  for (Index row = 0; row < 700; ++row) x_in_planes.set(row, x[row]);
  tree.apply(S(1), x_in_planes.view(), S(0), y_in_planes.view(), stream);
  for (Index row = 0; row < 700; ++row) {
    for (int k = 0; k < vector_entry_t<E>::components; ++k) {
      EXPECT_EQ(y_in_planes[row].component[k], y[row].component[k]);
    }
  }
}

TEST(TreeProducts, HaveTheSameBitsForAnyNumberOfThreads) {
  Seed seed(23);
  using E = quaternion<float>;
  const auto matrix = random_matrix<E>(
      {.rows = 20000, .columns = 20000, .per_row = 8, .dense_row = true}, seed.generator);
  const auto x = random_field<E>(20000, seed.generator);
  std::vector<std::vector<float>> results;
  // A* x follows A's leaves with one thread and with two, and block columns with seven.
  const HierarchicalMatrix<E> of_one_thread(matrix, 128, Device::cpu(1));
  for (const int threads : {1, 2, 7}) {
    const HierarchicalMatrix<E> tree = of_one_thread.on(Device::cpu(threads));
    EXPECT_EQ(tree.device().threads(), threads);
    EXPECT_EQ(HierarchicalMatrix<E>::held_memory({tree, of_one_thread}), tree.memory().total());
    Field<E> y(20000), z(20000);
    Reduction<float> reduction(20000);
    const double dot = tree.apply_dot(x.view(), y.view(), reduction, tree.device().stream());
    tree.adjoint()->apply(1, x.view(), 0, z.view(), tree.device().stream());
    std::vector<float> all = y.scalars().to_host();
    EXPECT_EQ(tree.memory().adjoint_schedule > 0, threads == 7);
    const auto more = z.scalars().to_host();
    all.insert(all.end(), more.begin(), more.end());
    all.push_back(static_cast<float>(dot));
    results.push_back(std::move(all));
  }
  EXPECT_EQ(results[0], results[1]);
  EXPECT_EQ(results[0], results[2]);
}

TEST(TreeProducts, DoNotMultiplyGaps) {
  // A node that is dense except for one place.
  EntryMapOf<real<double>> map;
  for (Index i = 0; i < 64; ++i) map[{i / 8, i % 8}] = {{1}};
  map.erase({2, 5});
  const HierarchicalMatrix<real<double>> tree(matrix_of(8, 8, map), 8);
  ASSERT_EQ(tree.memory().leaves.of_kind[std::size_t(NodeKind::dense)], 1);
  std::vector<double> x(8, 1.0), y(8);
  x[5] = std::numeric_limits<double>::quiet_NaN();
  tree.apply(1, x, 0, y, tree.device().stream());
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(std::isnan(y[i]), i != 2);
  x[5] = 1;
  x[2] = std::numeric_limits<double>::quiet_NaN();
  tree.adjoint()->apply(1, x, 0, y, tree.device().stream());
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(std::isnan(y[i]), i != 5);
}

TEST(TreeProducts, ServeSolvers) {
  Seed seed(24);
  using E = quaternion<double>;
  const auto hermitian = random_positive_definite_matrix<E>(3000, 6, seed.generator);
  const HierarchicalMatrix<E> A(hermitian, 64);
  const auto b = random_field<E>(3000, seed.generator);
  Field<E> x(3000);
  ConjugateGradient solver(A, Jacobi<E>(Operator<E>(A.diagonal(), parse_plan("CSR"))));
  EXPECT_TRUE(solver.solve(b, x).converged());
  Field<E> again(3000);
  EXPECT_TRUE(Gmres(A).solve(b, again).converged());
  for (std::size_t i = 0; i < x.scalars().size(); ++i) {
    EXPECT_NEAR(x.scalars()[i], again.scalars()[i], 1e-8);
  }
}

TEST(TreeProducts, ServeLeastSquaresWithoutASecondCopy) {
  Seed seed(25);
  using E = complex<double>;
  const auto matrix = random_matrix<E>(
      {.rows = 900, .columns = 250, .per_row = 6, .dense_row = true}, seed.generator);
  const HierarchicalMatrix<E> A(matrix, 32);
  const auto b = random_field<E>(900, seed.generator);
  Field<E> x(250), of_sliced(250);
  Lsmr solver(A);
  EXPECT_TRUE(solver.solve(b, x).converged());
  EXPECT_TRUE(Lsmr(Operator<E>(matrix, parse_plan("CSR"))).solve(b, of_sliced).converged());
  for (std::size_t i = 0; i < x.scalars().size(); ++i) {
    EXPECT_NEAR(x.scalars()[i], of_sliced.scalars()[i], 1e-5);
  }
  const HierarchicalMemory memory = A.memory();
  EXPECT_GT(memory.adjoint_schedule, 0);
  EXPECT_LT(memory.schedule + memory.adjoint_schedule, memory.leaves.bytes);
}

TEST(TreeProducts, OfEntriesThatUsersCompile) {
  Seed seed(27);
  using Rectangular = block<double, 2, 3>;
  const auto blocks = random_matrix<Rectangular>({.rows = 90, .columns = 70}, seed.generator);
  const HierarchicalMatrix<Rectangular> A(blocks, 32);
  expect_products(A, blocks, seed.generator);
  EXPECT_EQ(A.adjoint()->row_components(), 3);
  EXPECT_EQ(A.adjoint()->column_components(), 2);
  using Encoded = stored_as<float, quaternion<double>>;
  const auto encoded = random_matrix<Encoded>({.rows = 90, .columns = 70}, seed.generator);
  const HierarchicalMatrix<Encoded> B(encoded, 32);
  expect_products(B, encoded, seed.generator);
  EditBatch<Encoded> edits;
  edits.set(5, 5, {{1, 2, 3, 4}});
  EXPECT_EQ(B.edited(edits).find(5, 5)->component[2], 3);
  expect_same_bits(B.to_csr(), encoded);
}

TEST(TreeProducts, ServeTwoThreadsThatAskFirst) {
  Seed seed(28);
  using E = real<double>;
  const auto matrix = random_matrix<E>({.rows = 5000, .columns = 5000}, seed.generator);
  const auto x = random_field<E>(5000, seed.generator);
  for (int round = 0; round < 5; ++round) {
    const HierarchicalMatrix<E> A(matrix, 16, Device::cpu(1));
    std::vector<Field<E>> y;
    for (int k = 0; k < 2; ++k) y.emplace_back(5000);
    const auto multiply_by = [&](std::size_t k) {
      A.adjoint()->apply(1, x.view(), 0, y[k].view(), A.device().stream());
    };
    std::thread other(multiply_by, 1);
    multiply_by(0);
    other.join();
    EXPECT_EQ(y[0].scalars().to_host(), y[1].scalars().to_host());
  }
}

TEST(TreeProducts, RefuseInOneLine) {
  Seed seed(26);
  const HierarchicalMatrix<dual_quaternion<double>> dual(
      random_matrix<dual_quaternion<double>>({.rows = 9, .columns = 9}, seed.generator));
  expect_error(ErrorKind::unsupported, "no adjoint: the entry has none of its kind",
               [&] { static_cast<void>(dual.adjoint()); });
  const HierarchicalMatrix<quaternion<double>> A(
      random_matrix<quaternion<double>>({.rows = 9, .columns = 7}, seed.generator));
  EXPECT_THROW(static_cast<void>(A.transpose()), Error);
  Field<quaternion<double>> x(9), y(9);
  expect_error(ErrorKind::size_mismatch, "x has 9 rows of 4 components, the matrix asks for 7 of 4",
               [&] { A.apply(1, x.view(), 0, y.view(), A.device().stream()); });
  Field<quaternion<double>> of_columns(7);
  Reduction<double> reduction(9);
  EXPECT_THROW(A.apply_dot(of_columns.view(), y.view(), reduction, A.device().stream()), Error);
  // The residual of a rectangular matrix, stored in place of b.
  of_columns.set(3, {{1, 0, 0, 0}});
  const double squared =
      A.residual(y.view(), of_columns.view(), y.view(), reduction, A.device().stream());
  double expected = 0;
  for (const double component : y.scalars()) expected += component * component;
  EXPECT_NEAR(squared, expected, 1e-14);
  expect_error(
      ErrorKind::size_mismatch, "y has 7 rows of 4 components, the matrix asks for 9 of 4", [&] {
        A.apply(1, of_columns.view(), 0, Field<quaternion<double>>(7).view(), A.device().stream());
      });
}

}  // namespace
}  // namespace hierarchical_product
