// Trees on a GPU: A x, A* x and A^T x against products in long double, edits, and solvers.
#include <gtest/gtest.h>

#include <algorithm>
#include <limits>
#include <string>
#include <utility>
#include <vector>

#include "heddle/bicgstab.hpp"
#include "heddle/conjugate_gradient.hpp"
#include "heddle/jacobi.hpp"
#include "heddle/lsmr.hpp"
#include "heddle/operator.hpp"
#include "hierarchical/trees.hpp"
#include "support/expect_error.hpp"
#include "support/gpu.hpp"
#include "support/refusing_memory.hpp"

namespace hierarchical_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class TreesOnGpu : public OnGpu {};
TYPED_TEST_SUITE(TreesOnGpu, TreeEntries);

TYPED_TEST(TreesOnGpu, AgreeWithTheReference) {
  using E = TypeParam;
  Seed seed(41);
  expect_products_of_all_shapes<E>(this->device, seed.generator);
}

TYPED_TEST(TreesOnGpu, TellResidualsAndDots) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(42);
  const auto matrix = random_matrix<E>(
      {.rows = 3000, .columns = 3000, .per_row = 6, .dense_row = true}, seed.generator);
  const HierarchicalMatrix<E> on_cpu(matrix), tree = on_cpu.on(this->device);
  const auto x = random_field<E>(3000, seed.generator), b = random_field<E>(3000, seed.generator);
  Field<E> y(3000), r(3000);
  Reduction<S> reduction(3000);
  const Stream here = on_cpu.device().stream(), there = tree.device().stream();
  const double dot = on_cpu.apply_dot(x.view(), y.view(), reduction, here);
  const double squared = on_cpu.residual(b.view(), x.view(), r.view(), reduction, here);
  const Field<E> x_there = on_gpu(x, this->device), b_there = on_gpu(b, this->device);
  Field<E> y_there(3000, this->device), r_there(3000, this->device);
  Reduction<S> reduction_there(3000, this->device);
  const auto near = [](double a, double c, double scale) {
    EXPECT_NEAR(a, c, 1000 * std::numeric_limits<S>::epsilon() * scale);
  };
  for (int round = 0; round < 2; ++round) {
    near(tree.apply_dot(x_there.view(), y_there.view(), reduction_there, there), dot, 1000);
    const double other =
        tree.residual(b_there.view(), x_there.view(), r_there.view(), reduction_there, there);
    EXPECT_NEAR(squared, other, 1e-6 * squared);
  }
  const Field<E> y_back = y_there.to_host(), r_back = r_there.to_host();
  for (std::size_t i = 0; i < r.scalars().size(); ++i) {
    near(y_back.scalars()[i], y.scalars()[i], 10);
    near(r_back.scalars()[i], r.scalars()[i], 10);
  }
}

using TreeProductsOnGpu = OnGpu;

/// One row and one column with many leaves, so that their blocks of y consist of several pieces.
template <class E>
CsrMatrix<E> with_long_rows(Index rows, Generator& generator) {
  EntryMapOf<E> map = map_of(random_matrix<E>(
      {.rows = rows, .columns = rows, .per_row = 5, .dense_row = true}, generator));
  const auto more = map;
  for (const auto& [place, entry] : more) {
    if (place.first % 7 == 3) map[{place.first, 77}] = entry;
    if (place.second % 5 == 1) map[{rows - 3, place.second}] = entry;
  }
  return matrix_of(rows, rows, map);
}

TEST_F(TreeProductsOnGpu, OfEveryNodeSizeHaveTheSameBitsTwice) {
  Seed seed(43);
  using E = quaternion<float>;
  const auto matrix = with_long_rows<E>(30000, seed.generator);
  const auto adjoint_matrix = plain_adjoint(matrix);
  const auto x = random_scalars<float>(4 * 30000, seed.generator);
  for (int d = 4; d <= 256; d *= 2) {
    SCOPED_TRACE(d);
    const HierarchicalMatrix<E> tree(matrix, d, device);
    const auto adjoint_of_tree = tree.adjoint();
    const std::vector<float> nothing(x.size());
    const auto first = product<float>(tree, 1, x, 0, nothing);
    const auto first_adjoint = product<float>(*adjoint_of_tree, 1, x, 0, nothing);
    for (int round = 0; round < 3; ++round) {
      EXPECT_EQ(product<float>(tree, 1, x, 0, nothing), first);
      EXPECT_EQ(product<float>(*adjoint_of_tree, 1, x, 0, nothing), first_adjoint);
    }
    expect_products(tree, matrix, seed.generator);
    expect_products(*adjoint_of_tree, adjoint_matrix, seed.generator);
    const HierarchicalMemory memory = tree.memory();
    EXPECT_GT(memory.schedule, 0);
    EXPECT_GT(memory.adjoint_schedule, 0);
  }
}

TEST_F(TreeProductsOnGpu, DoNotMultiplyGaps) {
  EntryMapOf<real<double>> map;
  for (Index i = 0; i < 64; ++i) map[{i / 8, i % 8}] = {{1}};
  map.erase({2, 5});
  const HierarchicalMatrix<real<double>> tree(matrix_of(8, 8, map), 8, device);
  ASSERT_EQ(tree.memory().leaves.of_kind[std::size_t(NodeKind::dense)], 1);
  std::vector<double> x(8, 1.0);
  x[5] = std::numeric_limits<double>::quiet_NaN();
  auto y = product<double>(tree, 1, x, 0, x);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(std::isnan(y[i]), i != 2);
  x[5] = 1;
  x[2] = std::numeric_limits<double>::quiet_NaN();
  y = product<double>(*tree.adjoint(), 1, x, 0, x);
  for (std::size_t i = 0; i < 8; ++i) EXPECT_EQ(std::isnan(y[i]), i != 5);
}

/// One row of x is NaN: only rows of y with an entry there are NaN, whatever is read next to the
/// entries.
template <class E>
void expect_gaps_are_not_multiplied(const Device& device, int node, int percent,
                                    Generator& generator) {
  using S = vector_scalar_t<E>;
  SCOPED_TRACE(std::to_string(node) + ", " + std::to_string(percent) + "%, " +
               std::to_string(sizeof(E)) + " bytes");
  const Index rows = 3 * node + 5, columns = 2 * node + 3;
  EntryMapOf<E> map;
  for (Index i = 0; i < rows; ++i) {
    for (Index j = 0; j < columns; ++j) {
      if (random_between(0, 99, generator) < percent) map[{i, j}] = random_components<E>(generator);
    }
  }
  const HierarchicalMatrix<E> tree(matrix_of(rows, columns, map), node, device);
  const auto expect = [&](const auto& matrix, Index of_x, Index of_y, int components,
                          bool is_transposed) {
    const Index lost = random_between(0, of_x - 1, generator);
    std::vector<S> x(static_cast<std::size_t>(of_x * components), S(1));
    for (int k = 0; k < components; ++k) {
      x[static_cast<std::size_t>(lost * components + k)] = std::numeric_limits<S>::quiet_NaN();
    }
    const std::vector<S> y =
        product<S>(matrix, 1, x, 0, std::vector<S>(static_cast<std::size_t>(of_y * components)));
    for (Index i = 0; i < of_y; ++i) {
      const bool has_entry = is_transposed ? map.contains({lost, i}) : map.contains({i, lost});
      ASSERT_EQ(std::isnan(y[static_cast<std::size_t>(i * components)]), has_entry) << i;
    }
  };
  const int components = vector_entry_t<E>::components;
  for (int trial = 0; trial < 6; ++trial) {
    expect(tree, columns, rows, components, false);
    expect(*tree.adjoint(), rows, columns, components, true);
  }
}

TEST_F(TreeProductsOnGpu, DoNotMultiplyGapsOfLargeLeaves) {
  Seed seed(52);
  for (const int node : {8, 32, 128}) {
    for (const int percent : {8, 20, 95}) {
      expect_gaps_are_not_multiplied<real<float>>(device, node, percent, seed.generator);
      expect_gaps_are_not_multiplied<real<double>>(device, node, percent, seed.generator);
      expect_gaps_are_not_multiplied<complex<double>>(device, node, percent, seed.generator);
      expect_gaps_are_not_multiplied<block<double, 3, 3>>(device, node, percent, seed.generator);
      if (HasFailure()) return;
    }
  }
}

TEST_F(TreeProductsOnGpu, GoOnAfterEditsAndSums) {
  Seed seed(44);
  using E = block<double, 3, 3>;
  const auto matrix = with_long_rows<E>(20000, seed.generator);
  const HierarchicalMatrix<E> first(matrix, 64, device);
  expect_products(first, matrix, seed.generator);
  expect_products(*first.adjoint(), plain_adjoint(matrix), seed.generator);
  auto map = map_of(matrix);
  HierarchicalMatrix<E> tree = first;
  for (int round = 0; round < 4; ++round) {
    SCOPED_TRACE(round);
    EditBatch<E> edits;
    for (int i = 0; i < 20; ++i) {
      const Index row = random_between(0, 1999, seed.generator) + 4000 * round;
      const Index column = random_between(0, 19999, seed.generator);
      const bool is_there = map.contains({row, column});
      if (is_there && i % 2 == 0) {
        edits.remove(row, column);
        map.erase({row, column});
      } else if (!is_there) {
        E entry{};
        entry.component[i % 9] = i + 1;
        edits.set(row, column, entry);
        map[{row, column}] = entry;
      }
    }
    tree = tree.edited(edits);
    const auto now = matrix_of(20000, 20000, map);
    expect_products(tree, now, seed.generator);
    expect_products(*tree.adjoint(), plain_adjoint(now), seed.generator);
    expect_same_bits(tree.to_csr(), now);
  }
  expect_products(first, matrix, seed.generator);
  const HierarchicalMatrix<E> sum = add(2.0, tree, -1.0, first);
  EXPECT_TRUE(sum.device().on_gpu());
  expect_products(sum, sum.to_csr(), seed.generator);
}

TEST_F(TreeProductsOnGpu, ServeSolversInEveryForm) {
  Seed seed(46);
  using E = quaternion<double>;
  const auto hermitian = random_positive_definite_matrix<E>(3000, 6, seed.generator);
  const HierarchicalMatrix<E> A(hermitian, 64, device);
  const auto b = random_field<E>(3000, seed.generator);
  Field<E> expected(3000);
  ASSERT_TRUE(
      ConjugateGradient(Operator<E>(hermitian, parse_plan("CSR"))).solve(b, expected).converged());
  const auto expect_near = [&](const Field<E>& x) {
    const Field<E> back = x.to_host();
    for (std::size_t i = 0; i < back.scalars().size(); ++i) {
      ASSERT_NEAR(back.scalars()[i], expected.scalars()[i], 1e-8);
    }
  };
  Field<E> x(3000), again(3000), of_bicgstab(3000);
  ConjugateGradient solver(A, Jacobi<E>(Operator<E>(A.diagonal(), parse_plan("CSR"), device)));
  const auto report = solver.solve(b, x);
  EXPECT_TRUE(report.converged()) << report.detail;
  expect_near(x);
  EXPECT_EQ(solver.solve(b, again).iterations, report.iterations);
  EXPECT_EQ(x.scalars().to_host(), again.scalars().to_host());
  // The same without the host.
  const Field<E> b_there = on_gpu(b, device);
  Field<E> enqueued(3000, device);
  Array<DeviceReport> device_report(1, device);
  solver.enqueue(b_there.view(), enqueued.view(), device_report.data());
  EXPECT_EQ(device_report.to_host()[0].status, Status::converged);
  expect_near(enqueued);
  EXPECT_TRUE(BiCGStab(A).solve(b, of_bicgstab).converged());
  expect_near(of_bicgstab);
}

TEST_F(TreeProductsOnGpu, CountTheMemoryThatTheyTake) {
  Seed seed(50);
  using E = quaternion<float>;
  const auto matrix = with_long_rows<E>(30000, seed.generator);
  const auto x = random_scalars<float>(4 * 30000, seed.generator);
  RefusingMemory memory(device.memory());
  const OwnStream stream;
  {
    const HierarchicalMatrix<E> tree(matrix, 32, Device::cuda(0, stream.get(), &memory));
    EXPECT_EQ(memory.live, tree.memory().total());
    const auto adjoint_of_tree = tree.adjoint();
    product<float>(tree, 1, x, 0, x);
    EXPECT_EQ(memory.live, tree.memory().total());
    EXPECT_GT(tree.memory().workspaces, 0);
    product<float>(*adjoint_of_tree, 1, x, 0, x);
    {
      const auto other = tree.handle();
      product<float>(*other, 1, x, 0, x);
      EXPECT_EQ(memory.live, tree.memory().total());
    }
    const HierarchicalMemory now = tree.memory();
    EXPECT_EQ(memory.live, now.total());
    EXPECT_EQ(now.host, HierarchicalMatrix<E>::held_memory({tree}));
  }
  EXPECT_EQ(memory.live, 0);
}

/// Leaves of one or two entries are processed entry by entry.
TEST_F(TreeProductsOnGpu, OfFewEntriesALeafAgreeWithTheReference) {
  Seed seed(51);
  using E = real<double>;
  for (const auto& [rows, columns] : {std::pair{60000, 60000}, {20000, 90000}}) {
    const auto matrix =
        random_matrix<E>({.rows = rows, .columns = columns, .per_row = 3}, seed.generator);
    for (const int d : {16, 128}) {
      SCOPED_TRACE(d);
      const HierarchicalMatrix<E> tree(matrix, d, device);
      expect_products_of_all_forms(tree, matrix, seed.generator);
    }
  }
}

/// Long rows, dense leaves with gaps, and leaves of a few entries.
TEST_F(TreeProductsOnGpu, OfEveryLaunchHaveTheSameBitsTwice) {
  Seed seed(54);
  const auto check = [&]<class E>(int size, const TreeLaunch& launch, const TreeLaunch& in_full) {
    SCOPED_TRACE(to_string(launch));
    using S = vector_scalar_t<E>;
    EntryMapOf<E> map = map_of(with_long_rows<E>(9000, seed.generator));
    for (Index i = 0; i < 200 * 200; ++i) {
      if (i % 11 != 5) map[{i / 200, i % 200}] = random_components<E>(seed.generator);
    }
    const auto matrix = matrix_of(9000, 9000, map);
    const HierarchicalMatrix<E> tree(matrix, NodeLayout(size, 60, launch), device);
    EXPECT_EQ(tree.launch(), in_full);
    const auto x = random_scalars<S>(matrix.columns() * E::components, seed.generator);
    const std::vector<S> nothing(x.size());
    const auto first = product<S>(tree, 1, x, 0, nothing);
    EXPECT_EQ(product<S>(tree, 1, x, 0, nothing), first);
    expect_products_of_all_forms(tree, matrix, seed.generator);
    // Edits and sums keep the launch.
    EditBatch<E> edits;
    edits.set(3, 8000, random_components<E>(seed.generator));
    EXPECT_EQ(tree.edited(edits).launch(), in_full);
    EXPECT_EQ(add(S(1), tree, S(2), tree).launch(), in_full);
  };
  check.operator()<real<double>>(128, {.run = 1, .warps = 4, .piece = 64}, {1, 4, 64});
  check.operator()<real<double>>(64, {.run = 2, .warps = 1, .piece = 4096}, {2, 1, 4096});
  check.operator()<real<float>>(32, {.warps = 8}, {4, 8, 512});
  check.operator()<complex<double>>(128, {.run = 4, .warps = 8}, {2, 8, 1024});
  check.operator()<complex<double>>(8, {.run = 1, .piece = 128}, {1, 4, 128});
  check.operator()<quaternion<double>>(128, {.warps = 2, .piece = 300}, {1, 2, 300});
  check.operator()<quaternion<double>>(8, {}, {1, 2, 512});  // many blocks of rows
}

/// Dense leaves are split by rows.
TEST_F(TreeProductsOnGpu, OfFullMatricesAgreeWithTheReference) {
  Seed seed(52);
  const auto check = [&]<class E>(Index rows, Index columns) {
    EntryMapOf<E> map;
    for (Index row = 0; row < rows; ++row) {
      for (Index column = 0; column < columns; ++column) {
        if ((3 * row + column) % 11 != 5)
          map[{row, column}].component[0] = 1 + row % 7 - column % 3;
      }
    }
    const auto matrix = matrix_of(rows, columns, map);
    for (const int d : {8, 64, 128, 256}) {
      SCOPED_TRACE(d);
      const HierarchicalMatrix<E> tree(matrix, d, device);
      expect_products_of_all_forms(tree, matrix, seed.generator);
    }
  };
  check.operator()<real<double>>(300, 517);
  check.operator()<real<float>>(517, 300);
  check.operator()<complex<double>>(200, 300);
  check.operator()<block<double, 3, 3>>(200, 150);
}

TEST_F(TreeProductsOnGpu, AreHeldByGraphs) {
  Seed seed(47);
  using E = real<double>;
  const auto matrix = with_long_rows<E>(30000, seed.generator);
  const OwnStream stream;
  const Device own = Device::cuda(0, stream.get());
  const HierarchicalMatrix<E> A(matrix, 128, own);
  const auto x = random_scalars<double>(30000, seed.generator);
  const Array<double> there(std::span<const double>(x), own);
  Array<double> y(30000, own), z(30000, own);
  const FieldView<const double> of_x(there.data(), 30000, 1);
  const auto multiply = [&](Array<double>& to) {
    A.apply(1, of_x, 0, FieldView<double>(to.data(), 30000, 1), own.stream());
  };
  multiply(y);
  own.synchronize();
  EXPECT_TRUE(A.is_capturable());
  const OwnGraph graph(stream.get(), [&] { multiply(z); });
  EXPECT_EQ(graph.nodes(), 1);
  for (int round = 0; round < 2; ++round) {
    detail::fill_bytes(z.data(), 255, 30000 * sizeof(double), own.stream());
    graph.launch(stream.get());
    EXPECT_EQ(z.to_host(), y.to_host());
  }
}

TEST_F(TreeProductsOnGpu, ServeLeastSquaresWithoutASecondCopy) {
  Seed seed(48);
  using E = complex<double>;
  const auto matrix = random_matrix<E>(
      {.rows = 900, .columns = 250, .per_row = 6, .dense_row = true}, seed.generator);
  const HierarchicalMatrix<E> A(matrix, 32, device);
  const auto b = random_field<E>(900, seed.generator);
  Field<E> x(250), expected(250);
  EXPECT_TRUE(Lsmr(A).solve(b, x).converged());
  EXPECT_TRUE(Lsmr(Operator<E>(matrix, parse_plan("CSR"))).solve(b, expected).converged());
  for (std::size_t i = 0; i < x.scalars().size(); ++i) {
    EXPECT_NEAR(x.scalars()[i], expected.scalars()[i], 1e-5);
  }
}

TEST_F(TreeProductsOnGpu, RefuseInOneLine) {
  Seed seed(49);
  using E = quaternion<double>;
  const auto matrix = random_matrix<E>({.rows = 90, .columns = 90}, seed.generator);
  const HierarchicalMatrix<E> A(matrix, 32, device);
  const Stream stream = device.stream();
  Field<E> here(90), x(90, device), y(90, device), planes(90, device, VectorLayout::soa);
  expect_error(ErrorKind::usage,
               "x is in the host's memory, but the matrix is in a GPU's; `permute` copies it there",
               [&] { A.apply(1, here.view(), 0, y.view(), stream); });
  expect_error(ErrorKind::size_mismatch,
               "y is not AoS, which a tree needs; `permute` copies it into a field that is",
               [&] { A.apply(1, x.view(), 0, planes.view(), stream); });
}

}  // namespace
}  // namespace hierarchical_gpu
