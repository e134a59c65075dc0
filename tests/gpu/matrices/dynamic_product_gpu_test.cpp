// Products and another operation by a walk over the tree that the GPU itself schedules.
#include <gtest/gtest.h>

#include <map>
#include <utility>
#include <vector>

#include "heddle/conjugate_gradient.hpp"
#include "heddle/dynamic_product.hpp"
#include "heddle/hierarchical_jacobi.hpp"
#include "hierarchical/absolute_row_sums.hpp"
#include "hierarchical/edited_products.hpp"
#include "hierarchical/trees.hpp"
#include "support/expect_error.hpp"
#include "support/gpu.hpp"

namespace dynamic_products_on_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class DynamicProductsOnGpu : public OnGpu {};
using Entries = testing::Types<real<double>, real<float>, complex<double>, quaternion<float>,
                               dual_quaternion<double>, block<double, 3, 3>, block<float, 6, 6>>;
TYPED_TEST_SUITE(DynamicProductsOnGpu, Entries);

TYPED_TEST(DynamicProductsOnGpu, AgreeWithTheReference) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(81);
  for (const Pattern& pattern : tree_patterns(seed.generator)) {
    const CsrMatrix<E> matrix = random_matrix_of<E>(pattern, seed.generator);
    for (const int node : {4, 32, 128}) {
      const HierarchicalMatrix<E> tree(matrix, node, this->device);
      const DynamicProduct<E> product(tree);
      // The first round leaves the queues empty.
      for (int round = 0; round < 2; ++round) {
        expect_products<E, S>(product, matrix, seed.generator);
      }
      if constexpr (has_adjoint<E>) {
        expect_products<E, S>(*product.adjoint(), plain_adjoint(matrix), seed.generator);
        expect_products<E, S>(DynamicProduct<E>(tree.adjoint_matrix().scaled(S(-0.5))),
                              scaled_by(plain_adjoint(matrix), S(-0.5)), seed.generator);
      }
    }
  }
}

using DynamicProductOnGpu = OnGpu;

/// A matrix whose tree has every kind of node.
CsrMatrix<real<double>> matrix_of_all_kinds(Generator& generator) {
  std::map<std::pair<Index, Index>, real<double>> entries;
  const auto put = [&](Index row, Index column) {
    entries[{row, column}] = random_components<real<double>>(generator);
  };
  for (Index row = 0; row < 64; ++row) {
    for (Index column = 0; column < 48; ++column) put(row, column);  // dense leaves and nodes
  }
  for (int i = 0; i < 3000; ++i) {
    put(random_between(100, 999, generator), random_between(100, 999, generator));
    put(random_between(2000, 2031, generator), random_between(2000, 2031, generator));
  }
  for (Index i = 0; i < 3001; ++i) put(i, i);
  return matrix_of(3001, 3001, entries);
}

/// Whenever the controller launches, and however early it gives way, nothing is lost, and nothing
/// waits for a kernel that cannot begin.
TEST_F(DynamicProductOnGpu, DoesNotDependOnLimits) {
  using E = real<double>;
  Seed seed(82);
  const CsrMatrix<E> matrix = matrix_of_all_kinds(seed.generator);
  for (const int node : {4, 16, 128, 256}) {
    const HierarchicalMatrix<E> tree(matrix, {node, 30}, device);
    const DynamicProduct<E> product(node == 16 ? tree.with_shared_nodes() : tree);
    expect_products<E, double>(*product.adjoint(), plain_adjoint(matrix), seed.generator);
    const auto scheduler = product.scheduler();
    const device::SchedulerLimits usual = scheduler->limits();
    for (const long long patience : {0LL, usual.patience}) {
      for (const unsigned launches : {unsigned(task_kinds), usual.launches}) {
        for (const unsigned batch : {1U, usual.batch, 100000U}) {
          scheduler->set_limits({batch, launches, patience});
          expect_products<E, double>(product, matrix, seed.generator);
          const SchedulerStatistics done = scheduler->statistics(device.stream());
          EXPECT_EQ(product.statistics(device.stream()), done);
          EXPECT_GE(done.controllers, 1);
          if (patience == 0 && node == 4) {
            EXPECT_GT(done.controllers, 1);
          }
          long long leaves = 0;
          for (int kind = 0; kind < task_kinds; ++kind) {
            const auto& queue = done.queues[static_cast<std::size_t>(kind)];
            EXPECT_EQ(queue.tasks > 0, queue.launches > 0);
            if (is_leaf(static_cast<TaskKind>(kind))) leaves += queue.tasks;
          }
          EXPECT_GT(leaves, 0);
        }
      }
    }
  }
}

TEST_F(DynamicProductOnGpu, MultipliesByEmptyTrees) {
  using E = real<double>;
  Seed seed(86);
  const CsrMatrix<E> empty = matrix_of<E>(7, 5, {});
  expect_products<E, double>(DynamicProduct<E>(HierarchicalMatrix<E>(7, 5, 4, device)), empty,
                             seed.generator);
}

TEST_F(DynamicProductOnGpu, IsSolvedWith) {
  using E = quaternion<double>;
  Seed seed(83);
  const auto matrix = random_positive_definite_matrix<E>(3000, 6, seed.generator);
  const HierarchicalMatrix<E> tree(matrix, 32, device);
  const DynamicProduct<E> product(tree);
  const Field<E> b = random_field<E>(3000, seed.generator);
  Field<E> x(3000);
  ConjugateGradient solver(product, HierarchicalJacobi(tree));
  EXPECT_TRUE(solver.solve(b.view(), x.view()).converged());
  DeviceReport report;
  expect_error(ErrorKind::unsupported,
               "enqueue needs a loop that runs on a GPU: an operator there whose plan says "
               "loop=graph or loop=persistent, or that only queues work, and a preconditioner that "
               "only queues work",
               [&] { solver.enqueue(b.view(), x.view(), &report); });
}

TEST_F(DynamicProductOnGpu, TakesEditedMatrices) { expect_products_of_edits(device); }

TYPED_TEST(DynamicProductsOnGpu, AUsersOperationSumsRows) {
  using E = TypeParam;
  Seed seed(84);
  for (const Pattern& pattern : tree_patterns(seed.generator)) {
    const CsrMatrix<E> matrix = random_matrix_of<E>(pattern, seed.generator);
    const HierarchicalMatrix<E> tree(matrix, {32, 20}, this->device);
    EntryText text = detail::entry_texts<E>().own;
    text.type = "heddle::test::AbsoluteRowSums<" + text.type + ", double>";
    text.headers.emplace_back("absolute_row_sums.hpp");
    const TreeScheduler<AbsoluteRowSums<E, double>> scheduler(tree, text);
    Array<double> sums(static_cast<std::size_t>(pattern.rows), this->device);
    AbsoluteRowSums<E, double> operation{};
    operation.sums = sums.data();
    operation.rows = pattern.rows;
    scheduler.run(operation, this->device.stream());
    std::vector<double> computed(sums.size());
    detail::copy_bytes(computed.data(), sums.data(), sums.size() * sizeof(double),
                       this->device.stream());
    const std::vector<double> expected = absolute_row_sums(matrix);
    for (std::size_t row = 0; row < computed.size(); ++row) {
      EXPECT_NEAR(computed[row], expected[row], 1e-6 * (1 + expected[row])) << row;
    }
  }
}

}  // namespace
}  // namespace dynamic_products_on_gpu
