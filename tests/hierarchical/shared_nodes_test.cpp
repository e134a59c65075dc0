// Trees whose equal nodes are one: the same matrix, products, sums and edits in fewer bytes.
#include <gtest/gtest.h>

#include "hierarchical/periodic_matrix.hpp"
#include "support/few_entries.hpp"

namespace shared_nodes {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class SharedNodes : public testing::Test {};
TYPED_TEST_SUITE(SharedNodes, FewWhereSanitized<TreeEntries>);

TYPED_TEST(SharedNodes, AreOneMatrixInFewerBytes) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(97);
  const HierarchicalMatrix<E> A(periodic<E>(1000, 990, 16, seed.generator), 16);
  const auto shared = A.with_shared_nodes();
  EXPECT_EQ(shared.memory().tree(), A.memory().tree());
  EXPECT_EQ(A.memory().shared, 0);
  const long long bytes = HierarchicalMatrix<E>::held_memory({shared});
  EXPECT_EQ(shared.memory().shared, A.memory().tree() - bytes);
  EXPECT_LT(bytes, A.memory().tree() / 5);
  expect_same_matrix(shared, A, seed.generator);
  const auto again = shared.with_shared_nodes();
  EXPECT_EQ(again.memory().shared, shared.memory().shared);
  expect_same_matrix(again, A, seed.generator);
  const auto B =
      HierarchicalMatrix<E>(random_matrix<E>({.rows = 1000, .columns = 990}, seed.generator), 16);
  expect_same_matrix(add(S(2), shared, S(-1), B), add(S(2), A, S(-1), B), seed.generator);
  expect_same_matrix(shared.scaled(3).written_out(), A.scaled(3).written_out(), seed.generator);
  expect_same_bits(shared.diagonal(), A.diagonal());
}

TYPED_TEST(SharedNodes, AreEditedPlaceByPlace) {
  using E = TypeParam;
  Seed seed(98);
  for (const Index rows : {90, 2500}) {  // the smaller one is merged with its edits
    const CsrMatrix<E> matrix = periodic<E>(rows, rows, 8, seed.generator);
    EntryMapOf<E> entries = map_of(matrix);
    auto A = HierarchicalMatrix<E>(matrix, 8).with_shared_nodes();
    const auto before = A;
    for (int round = 0; round < 60; ++round) {
      const int count = round % 9 == 8 ? 400 : 9;
      A = A.edited(random_edits<EditBatch, E>(rows, rows, count, entries, seed.generator));
      if (round % 5 > 0) continue;
      const HierarchicalMatrix<E> plain(matrix_of(rows, rows, entries), 8);
      expect_same_matrix(A, plain, seed.generator);
      EXPECT_EQ(A.memory().leaves.of_kind, plain.memory().leaves.of_kind);
      EXPECT_EQ(A.memory().tree(), plain.memory().tree());
      if (testing::Test::HasFailure()) return;
    }
    expect_same_bits(before.to_csr(), matrix_of(rows, rows, map_of(matrix)));
    EditBatch<E> all;
    for (const auto& [place, entry] : entries) all.remove(place.first, place.second);
    A = A.edited(all);
    EXPECT_EQ(A.entries(), 0);
    EXPECT_EQ(HierarchicalMatrix<E>(rows, rows, 8).with_shared_nodes().entries(), 0);
  }
}

TEST(SharedNodesOfAGrid, AreFewInALaplacian) {
  using E = real<double>;
  constexpr Index n = 256;
  EntryMapOf<E> entries;
  for (Index i = 0; i < n * n; ++i) {
    entries[{i, i}] = {{4}};
    for (const Index j : {i % n + 1 < n ? i + 1 : -1, i + n}) {
      if (j >= 0 && j < n * n) entries[{i, j}] = entries[{j, i}] = {{-1}};
    }
  }
  const HierarchicalMatrix<E> A(matrix_of(n * n, n * n, entries));
  const HierarchicalMemory memory = A.with_shared_nodes().memory();
  EXPECT_LT(memory.tree() - memory.shared, memory.tree() / 200);
}

}  // namespace
}  // namespace shared_nodes
