// A x and A* x by a walk over the tree, compared with products in long double, and another
// operation.
#include "heddle/dynamic_product.hpp"

#include <gtest/gtest.h>

#include <cstddef>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/hierarchical_jacobi.hpp"
#include "heddle/lsmr.hpp"
#include "hierarchical/absolute_row_sums.hpp"
#include "hierarchical/edited_products.hpp"
#include "hierarchical/trees.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"

namespace hierarchical_walk {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class DynamicProducts : public testing::Test {};
using Entries = testing::Types<real<double>, complex<float>, quaternion<double>,
                               dual_quaternion<double>, block<double, 3, 3>>;
TYPED_TEST_SUITE(DynamicProducts, FewWhereSanitized<Entries>);

TYPED_TEST(DynamicProducts, AgreeWithTheReference) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(71);
  for (const Pattern& pattern : tree_patterns(seed.generator)) {
    if (pattern.rows > 1000) continue;
    const CsrMatrix<E> matrix = random_matrix_of<E>(pattern, seed.generator);
    for (const int node : {4, 32, 128}) {
      const HierarchicalMatrix<E> tree(matrix, node, Device::cpu(3));
      const DynamicProduct<E> product(tree);
      expect_products<E, S>(product, matrix, seed.generator);
      if constexpr (has_adjoint<E>) {
        expect_products<E, S>(*product.adjoint(), plain_adjoint(matrix), seed.generator);
        expect_products<E, S>(DynamicProduct<E>(tree, true), plain_adjoint(matrix), seed.generator);
      }
      EXPECT_EQ(tree.memory().schedule, 0);
      EXPECT_FALSE(product.statistics(tree.device().stream()));
      if constexpr (has_adjoint<E>) {
        const DynamicProduct<E> of_adjoint(tree.adjoint_matrix().scaled(S(-0.5)));
        expect_products<E, S>(of_adjoint, scaled_by(plain_adjoint(matrix), S(-0.5)),
                              seed.generator);
        expect_products<E, S>(*of_adjoint.adjoint(), scaled_by(matrix, S(-0.5)), seed.generator);
      }
    }
  }
}

TEST(DynamicProduct, IsSolvedWith) {
  using E = real<double>;
  Seed seed(72);
  const auto matrix = random_positive_definite_matrix<E>(500, 6, seed.generator);
  const HierarchicalMatrix<E> tree(matrix, 8, Device::cpu(3));
  const auto b = random_field<E>(500, seed.generator);
  const DynamicProduct<E> product(tree);
  Field<E> x(500);
  ConjugateGradient solver(product, HierarchicalJacobi(tree));
  EXPECT_TRUE(solver.solve(b, x).converged());
  Field<E> of_lsmr(500);
  Lsmr lsmr(product);
  EXPECT_TRUE(lsmr.solve(b, of_lsmr).converged());
  EXPECT_EQ(tree.memory().schedule, 0);
}

TEST(DynamicProduct, TakesEditedMatrices) { expect_products_of_edits(Device::cpu(3)); }

TEST(DynamicProduct, MultipliesByEmptyAndSharedTrees) {
  using E = real<double>;
  Seed seed(75);
  const HierarchicalMatrix<E> empty(7, 5, 4);
  const Field<E> x = random_field<E>(5, seed.generator);
  Field<E> y = random_field<E>(7, seed.generator);
  const Field<E> before = y;
  const DynamicProduct<E> product(empty);
  product.apply(1, x.view(), -2, y.view(), Device::cpu().stream());
  for (std::size_t i = 0; i < 7; ++i) EXPECT_EQ(y.scalars()[i], -2 * before.scalars()[i]);
  product.apply(1, x.view(), 0, y.view(), Device::cpu().stream());
  for (const double value : y.scalars()) EXPECT_EQ(value, 0);

  EntryMapOf<E> map;
  for (Index i = 0; i < 400; ++i) {
    for (const Index j : {i, i / 16 * 16, i ^ 3}) map[{i, j}] = {1.0 + (i + j) % 16};
  }
  const CsrMatrix<E> matrix = matrix_of(400, 400, map);
  const auto shared = HierarchicalMatrix<E>(matrix, 16, Device::cpu(3)).with_shared_nodes();
  ASSERT_GT(shared.memory().shared, 0);
  expect_products<E, double>(DynamicProduct<E>(shared), matrix, seed.generator);
}

/// An exception of one thread ends the others.
struct Throws : TreeOperation {
  HEDDLE_INLINE Offset items() const { return 0; }
  HEDDLE_INLINE void prepare(Offset) const {}
  HEDDLE_INLINE void refuse(Offset) const {}
  template <TaskKind kind, class Lanes>
  void leaf(const NodeTask& task, const Lanes&) const {
    if (task.row == 40) throw Error(ErrorKind::usage, "a leaf throws");
  }
};

TEST(DynamicProduct, EndsWithTheFirstException) {
  Seed seed(76);
  const auto matrix = random_positive_definite_matrix<real<double>>(2000, 4, seed.generator);
  for (const int threads : {1, 4}) {
    const HierarchicalMatrix<real<double>> tree(matrix, 8, Device::cpu(threads));
    const TreeScheduler<Throws> scheduler(tree, {});
    expect_error(ErrorKind::usage, "a leaf throws",
                 [&] { scheduler.run({}, Device::cpu(threads).stream()); });
  }
}

/// Tasks hold what they are made of, at the ends of their ranges too.
TEST(NodeTasks, HoldAddressLevelAndPart) {
  Seed seed(73);
  for (int i = 0; i < 1000; ++i) {
    const auto address = (static_cast<unsigned long long>(seed.generator()) << 20 ^
                          static_cast<unsigned long long>(seed.generator())) &
                         (NodeTask::max_address - 16);
    const auto kind = static_cast<NodeKind>(i % node_kinds);
    const NodeTask task = NodeTask::make(address, kind, i % 16, i, 2 * i).with_part(i % 256);
    EXPECT_TRUE(task.is_there());
    EXPECT_EQ(task.address(), address);
    EXPECT_EQ(task.kind(), kind);
    EXPECT_EQ(task.level(), i % 16);
    EXPECT_EQ(task.part(), i % 256);
    EXPECT_EQ(task.row, i);
    EXPECT_EQ(task.column, 2 * i);
  }
  EXPECT_TRUE(NodeTask::make(0, NodeKind::dense, 0, 0, 0).is_there());
  EXPECT_FALSE(NodeTask{}.is_there());
}

/// Every kind of node fits into the parts that a task can number, and threads of a block divide it.
TEST(NodeTasks, CutNodesIntoParts) {
  for (int kind = 0; kind < task_kinds; ++kind) {
    const TaskShape shape = task_shape(static_cast<TaskKind>(kind));
    EXPECT_EQ(256 % shape.lanes, 0);
    EXPECT_EQ(shape.slots % shape.lanes, 0);
  }
  for (int log2_size = 2; log2_size <= 8; ++log2_size) {
    for (const NodeKind kind : {NodeKind::dense, NodeKind::coo4}) {
      for (int level = 0; level < 2; ++level) {
        const int slots = slots_of_node(kind, 1 << (2 * log2_size), log2_size);
        EXPECT_LE(slots, 256 * task_shape(task_kind(level, kind, slots)).slots);
      }
    }
  }
  EXPECT_EQ(task_kind(0, NodeKind::coo1, 1), TaskKind::few_entries);
  EXPECT_EQ(task_kind(0, NodeKind::coo2, 2), TaskKind::few_entries);
  EXPECT_EQ(task_kind(0, NodeKind::coo4, 32), TaskKind::some_entries);
  EXPECT_EQ(task_kind(0, NodeKind::coo4, 33), TaskKind::many_entries);
  EXPECT_EQ(task_kind(0, NodeKind::dense, 9), TaskKind::dense_entries);
  EXPECT_EQ(task_kind(1, NodeKind::coo4, 8), TaskKind::few_children);
  EXPECT_EQ(task_kind(1, NodeKind::coo4, 9), TaskKind::many_children);
  EXPECT_EQ(task_kind(2, NodeKind::dense, 3), TaskKind::dense_children);
}

/// A user's operation runs on every leaf once, whatever the team.
TYPED_TEST(DynamicProducts, AUsersOperationSumsRows) {
  using E = TypeParam;
  Seed seed(74);
  for (const Pattern& pattern : tree_patterns(seed.generator)) {
    if (pattern.rows > 1000) continue;
    const CsrMatrix<E> matrix = random_matrix_of<E>(pattern, seed.generator);
    const std::vector<double> expected = absolute_row_sums(matrix);
    for (const int threads : {1, 4}) {
      const HierarchicalMatrix<E> tree(matrix, {16, 20}, Device::cpu(threads));
      const TreeScheduler<AbsoluteRowSums<E, double>> scheduler(tree, {});
      std::vector<double> sums(static_cast<std::size_t>(pattern.rows));
      AbsoluteRowSums<E, double> operation{};
      operation.sums = sums.data();
      operation.rows = pattern.rows;
      scheduler.run(operation, tree.device().stream());
      for (std::size_t row = 0; row < sums.size(); ++row) {
        EXPECT_NEAR(sums[row], expected[row], 1e-6 * (1 + expected[row])) << row;
      }
    }
  }
}

}  // namespace
}  // namespace hierarchical_walk
