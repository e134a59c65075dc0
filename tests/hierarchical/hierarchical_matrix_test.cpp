// Hierarchical storage: lossless conversion, accounts of memory, and refused inputs.
#include <gtest/gtest.h>

#include <cstring>
#include <limits>

#include "hierarchical/trees.hpp"
#include "support/expect_error.hpp"
#include "support/few_entries.hpp"
#include "support/refusing_memory.hpp"

namespace hierarchical_matrix {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class Hierarchical : public testing::Test {};
TYPED_TEST_SUITE(Hierarchical, FewWhereSanitized<TreeEntries>);

TYPED_TEST(Hierarchical, ConvertsWithoutLoss) {
  using E = TypeParam;
  Seed seed(11);
  for (const Pattern& pattern : tree_patterns(seed.generator)) {
    SCOPED_TRACE(testing::Message() << pattern.rows << " x " << pattern.columns);
    const CsrMatrix<E> matrix = random_matrix_of<E>(pattern, seed.generator);
    const CsrMatrix<E> sorted = matrix_of(matrix.rows(), matrix.columns(), map_of(matrix));
    for (const NodeLayout& nodes :
         {NodeLayout(4), NodeLayout(16, 20), NodeLayout(128), NodeLayout(256, NodeLayout::never)}) {
      SCOPED_TRACE(to_string(nodes));
      const HierarchicalMatrix<E> tree(matrix, nodes);
      EXPECT_EQ(tree.node_size(), nodes.size);
      EXPECT_EQ(tree.rows(), matrix.rows());
      EXPECT_EQ(tree.columns(), matrix.columns());
      expect_same_bits(tree.to_csr(), sorted);
      expect_true_account(tree, nodes.dense);
    }
  }
}

TYPED_TEST(Hierarchical, TripletsAndSingleEntries) {
  using E = TypeParam;
  Seed seed(12);
  const CsrMatrix<E> matrix =
      random_matrix<E>({.rows = 150, .columns = 97, .per_row = 5, .sorted = false}, seed.generator);
  const HierarchicalMatrix<E> tree(matrix, 16);
  const auto triplets = tree.to_triplets();
  const auto again = assemble<E>(150, 97, std::span<const Triplet<E>>(triplets));
  expect_same_bits(HierarchicalMatrix<E>(again.matrix, 16).to_csr(), tree.to_csr());
  const auto map = map_of(matrix);
  for (Index row = 0; row < 150; ++row) {
    for (Index column = 0; column < 97; ++column) {
      const auto found = tree.find(row, column);
      const auto known = map.find({row, column});
      ASSERT_EQ(found.has_value(), known != map.end());
      if (found) {
        EXPECT_EQ(std::memcmp(&*found, &known->second, sizeof(E)), 0);
      }
    }
  }
  EXPECT_FALSE(tree.find(-1, 0));
  EXPECT_FALSE(tree.find(0, 97));
  const CsrMatrix<E> diagonal = tree.diagonal();
  for (const auto& [place, entry] : map_of(diagonal)) EXPECT_EQ(place.first, place.second);
  EXPECT_EQ(diagonal.rows(), 150);
}

TEST(HierarchicalStorage, KeepsZerosAndSpecialNumbers) {
  constexpr double inf = std::numeric_limits<double>::infinity();
  EntryMapOf<real<double>> map;
  for (Index i = 0; i < 16; ++i) map[{i / 4, i % 4}] = {{i % 3 == 0 ? 0.0 : -0.0}};
  map[{1, 1}] = {{inf}};
  map[{2, 3}] = {{std::numeric_limits<double>::denorm_min()}};
  const CsrMatrix<real<double>> matrix = matrix_of(4, 4, map);
  const HierarchicalMatrix<real<double>> tree(matrix, 4);
  EXPECT_EQ(tree.memory().leaves.of_kind[std::size_t(NodeKind::dense)], 1);
  expect_same_bits(tree.to_csr(), matrix);
}

TEST(HierarchicalStorage, IsTheSameFromAnyNumberOfThreads) {
  Seed seed(13);
  const auto matrix = random_matrix<quaternion<double>>(
      {.rows = 9000, .columns = 7001, .per_row = 6, .dense_row = true, .sorted = false},
      seed.generator);
  const auto bytes_of = [&](int threads) {
    const NodeShape leaf{5, 32};
    return detail::tree_of(matrix.view().pattern(), leaf,
                           reinterpret_cast<const std::byte*>(matrix.values().data()),
                           Device::cpu(threads), {});
  };
  const detail::Tree one = bytes_of(1);
  for (const int threads : {2, 5}) {
    const detail::Tree other = bytes_of(threads);
    EXPECT_EQ(one.root.bits, other.root.bits);
    ASSERT_EQ(one.pools[0].pool->size(), other.pools[0].pool->size());
    EXPECT_EQ(std::memcmp(one.pools[0].pool->data(), other.pools[0].pool->data(),
                          one.pools[0].pool->size()),
              0);
  }
}

TEST(HierarchicalStorage, BlocksByColumns) {
  Seed seed(14);
  using E = block<double, 2, 2>;
  const CsrMatrix<E> matrix = random_matrix<E>({.rows = 20, .columns = 20}, seed.generator);
  CsrMatrix<E> by_columns = matrix;
  for (Offset i = 0; i < matrix.entries(); ++i) {
    std::swap(by_columns.values()[static_cast<std::size_t>(i) * 4 + 1],
              by_columns.values()[static_cast<std::size_t>(i) * 4 + 2]);
  }
  CsrView<E> view = by_columns.view();
  view.order = column_major;
  expect_same_bits(HierarchicalMatrix<E>(view, 8).to_csr(), matrix);
}

TEST(HierarchicalStorage, RefusesInOneLine) {
  Seed seed(15);
  using E = real<double>;
  const CsrMatrix<E> matrix = random_matrix<E>({.rows = 300, .columns = 300}, seed.generator);
  for (const int d : {0, 1, 2, 3, 5, 100, 512, -4}) {
    expect_error(ErrorKind::usage,
                 "nodes of hierarchical storage have 4, 8, 16, 32, 64, 128 or 256 rows and "
                 "columns, not " +
                     std::to_string(d),
                 [&] { HierarchicalMatrix<E>(matrix, d); });
  }
  const HierarchicalMemory needed =
      hierarchical_memory(matrix.view().pattern(), 128, sizeof(double));
  const long long bytes = needed.tree() + needed.schedule;
  EXPECT_NO_THROW(HierarchicalMatrix<E>(matrix.view(), 128, Device::cpu(), bytes));
  try {
    HierarchicalMatrix<E>(matrix.view(), 128, Device::cpu(), bytes - 1);
    ADD_FAILURE() << "built beyond its limit";
  } catch (const Error& error) {
    EXPECT_EQ(error.kind(), ErrorKind::memory);
    EXPECT_EQ(std::string(error.what()).find("hierarchical storage: leaves "), 0u) << error.what();
  }
  HierarchicalMatrix<E> moved(matrix);
  const HierarchicalMatrix<E> taken = std::move(moved);
  EXPECT_EQ(taken.entries(), matrix.entries());
  EXPECT_THROW(moved.entries(), Error);  // NOLINT(bugprone-use-after-move)
}

TEST(HierarchicalStorage, FreesAllWhereMemoryRunsOut) {
  Seed seed(16);
  using E = real<double>;
  const CsrMatrix<E> matrix = random_matrix<E>({.rows = 300, .columns = 300}, seed.generator);
  RefusingMemory memory(default_memory());
  memory.allow(0);
  EXPECT_THROW(HierarchicalMatrix<E>(matrix, 16, Device::cpu(1, &memory)), Error);
  EXPECT_EQ(memory.live, 0);
  memory.allow_all();
  {
    const HierarchicalMatrix<E> tree(matrix, 16, Device::cpu(1, &memory));
    EXPECT_EQ(memory.live, tree.memory().tree());
    EditBatch<E> edits;
    edits.set(3, 3, {{1}});
    memory.allow(0);
    EXPECT_THROW(static_cast<void>(tree.edited(edits)), Error);
    EXPECT_EQ(memory.live, tree.memory().tree());
    memory.allow_all();
    expect_same_bits(tree.to_csr(), matrix);
    EXPECT_EQ(memory.live, tree.memory().total());  // including a schedule
  }
  EXPECT_EQ(memory.live, 0);
}

TEST(HierarchicalStorage, ThePapersFormulaIsNearTheTrueSize) {
  Seed seed(17);
  const auto matrix =
      random_matrix<real<float>>({.rows = 20000, .columns = 20000, .per_row = 40}, seed.generator);
  const HierarchicalMemory memory =
      hierarchical_memory(matrix.view().pattern(), 128, sizeof(float));
  const double ratio = static_cast<double>(memory.tree()) / memory.paper_formula(128, 4);
  EXPECT_GT(ratio, 0.95);
  EXPECT_LT(ratio, 1.3);
}

TEST(HierarchicalStorage, HasNoMoreNodesThanTheBound) {
  Seed seed(18);
  for (const Pattern& pattern : tree_patterns(seed.generator)) {
    for (const int node : {4, 16, 128}) {
      const PatternView view{pattern.rows, pattern.columns, pattern.offsets.data(),
                             pattern.column.data()};
      const HierarchicalMemory memory = hierarchical_memory(view, node, 8);
      const NodeBound bound =
          bound_of_nodes(pattern.rows, pattern.columns, memory.leaves.items, node);
      EXPECT_LE(memory.leaves.nodes() + memory.inner.nodes(), bound.of_entries);
      EXPECT_LE(bound.of_entries, bound.paper);
    }
  }
  // One entry needs a node of each level; two share the root alone.
  EXPECT_EQ(bound_of_nodes(64, 64, 1, 4).paper, 3);
  EXPECT_EQ(bound_of_nodes(64, 64, 2, 4).of_entries, 1 + 2 * 2);
  // The terms of the paper's sum for lambda = 2 and three levels.
  EXPECT_EQ(bound_of_nodes(64, 64, 17, 4).paper, 3 + (16 - 1) * 2 + (256 - 16) * 1);
}

TEST(TreeOfTriplets, IsThatOfTheAssembledMatrix) {
  using E = quaternion<double>;
  Seed seed(14);
  std::vector<Triplet<E>> triplets;
  for (int i = 0; i < 3000; ++i) {
    triplets.push_back({random_between(0, 299, seed.generator),
                        random_between(0, 99, seed.generator),
                        random_components<E>(seed.generator)});
  }
  const auto assembled = assemble<E>(300, 100, std::span<const Triplet<E>>(triplets)).matrix;
  const HierarchicalMatrix<E> tree(300, 100, triplets, 16);
  expect_same_bits(tree.to_csr(), assembled);
  expect_true_account(tree);
  // Empty rows and columns take no memory.
  constexpr Index most = std::numeric_limits<Index>::max();
  const std::vector<Triplet<real<double>>> far = {{most - 1, 7, {{2}}}, {3, most - 1, {{1}}}};
  const HierarchicalMatrix<real<double>> wide(most, most, far);
  EXPECT_EQ(wide.entries(), 2);
  EXPECT_EQ(wide.find(3, most - 1)->component[0], 1);
  EXPECT_LT(wide.memory().tree(), 10000);
  EXPECT_EQ(HierarchicalMatrix<E>(0, 5).to_csr().columns(), 5);
}

TEST(TreeOfTriplets, RefusesInOneLine) {
  using E = real<double>;
  const std::vector<Triplet<E>> beyond = {{0, 0, {{1}}}, {1, 4, {{1}}}};
  expect_error(ErrorKind::out_of_range,
               "triplet 1 names row 1, column 4 of a matrix of 3 x 4 entries, counted from 0",
               [&] { HierarchicalMatrix<E>(3, 4, beyond); });
  expect_error(ErrorKind::out_of_range, "a matrix cannot have -1 x 4 entries",
               [&] { HierarchicalMatrix<E>(-1, 4); });
  expect_error(
      ErrorKind::usage,
      "nodes of hierarchical storage have 4, 8, 16, 32, 64, 128 or 256 rows and columns, not 5",
      [&] { HierarchicalMatrix<E>(3, 4, 5); });
  using Encoded = stored_as<float, E>;
  const std::vector<Triplet<Encoded>> twice = {{2, 1, {}}, {0, 0, {}}, {2, 1, {}}};
  expect_error(ErrorKind::usage, "two triplets name row 2, column 1: encoded entries have no sum",
               [&] { HierarchicalMatrix<Encoded>(3, 4, twice); });
}

}  // namespace
}  // namespace hierarchical_matrix
