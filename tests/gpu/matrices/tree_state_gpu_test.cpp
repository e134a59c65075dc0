// Trees in every state on a GPU, and trees whose equal nodes are one.
#include <gtest/gtest.h>

#include "gpu/matrices/edits_of_arrays.hpp"
#include "hierarchical/periodic_matrix.hpp"
#include "hierarchical/tree_states.hpp"
#include "support/gpu.hpp"

namespace tree_state_gpu {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class TreeStatesOnGpu : public OnGpu {};
TYPED_TEST_SUITE(TreeStatesOnGpu, TreeEntries);

TYPED_TEST(TreeStatesOnGpu, AreThoseOfExplicitMatrices) {
  Seed seed(91);
  expect_states_of_all_shapes<TypeParam>(this->device, seed.generator);
}

TYPED_TEST(TreeStatesOnGpu, AreEditedByArrays) {
  using E = TypeParam;
  Seed seed(99);
  const auto matrix = random_matrix<E>({.rows = 300, .columns = 200}, seed.generator);
  for (const auto& [tree, rows, is_exact] : states_of(matrix, 16, this->device)) {
    EntryMapOf<E> after = map_of(rows);
    auto edits =
        random_edits<gpu_test::Edits, E>(tree.rows(), tree.columns(), 40, after, seed.generator);
    const auto edited = tree.edited(edits.views(tree.rows(), tree.columns(), this->device));
    expect_same_bits(edited.to_csr(), matrix_of(tree.rows(), tree.columns(), after));
  }
}

TYPED_TEST(TreeStatesOnGpu, NodesAreShared) {
  using E = TypeParam;
  Seed seed(97);
  const CsrMatrix<E> matrix = periodic<E>(1000, 990, 16, seed.generator);
  const HierarchicalMatrix<E> A(matrix, 16, this->device);
  auto shared = A.with_shared_nodes();
  EXPECT_GT(shared.memory().shared, A.memory().tree() / 2);
  expect_same_matrix(shared, A, seed.generator);
  expect_products_of_all_forms(shared, matrix, seed.generator);
  EntryMapOf<E> entries = map_of(matrix);
  for (int round = 0; round < 20; ++round) {
    auto edits = random_edits<gpu_test::Edits, E>(1000, 990, round % 9 == 8 ? 400 : 9, entries,
                                                  seed.generator);
    shared = shared.edited(edits.views(1000, 990, this->device));
    if (round % 5 > 0) continue;
    expect_same_matrix(shared,
                       HierarchicalMatrix<E>(matrix_of(1000, 990, entries), 16, this->device),
                       seed.generator);
  }
}

}  // namespace
}  // namespace tree_state_gpu
