// Sums by a walk over both trees: the bits of sums by kept schedules, and no schedule.
#include <gtest/gtest.h>

#include <array>
#include <cstddef>
#include <cstring>
#include <span>
#include <utility>
#include <vector>

#include "heddle/detail/trees/task_counts.hpp"
#include "heddle/detail/trees/task_team.hpp"
#include "heddle/detail/trees/tree_sum.hpp"
#include "heddle/kernels/trees/tree_sum_operation.hpp"
#include "hierarchical/tree_states.hpp"
#include "support/few_entries.hpp"

namespace walked_sums {
namespace {

using namespace heddle;
using namespace heddle::test;

template <class E>
class WalkedSums : public testing::Test {};
TYPED_TEST_SUITE(WalkedSums, FewOf<TreeEntries>);

TYPED_TEST(WalkedSums, AreThoseOfEntries) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(141);
  for (const Pattern& pattern : tree_patterns(seed.generator)) {
    if (pattern.rows > 1000) continue;
    SCOPED_TRACE(testing::Message() << pattern.rows << " x " << pattern.columns);
    const CsrMatrix<E> a = random_matrix_of<E>(pattern, seed.generator);
    const CsrMatrix<E> b =
        random_matrix<E>({.rows = pattern.rows, .columns = pattern.columns}, seed.generator);
    for (const NodeLayout& nodes : {NodeLayout(4, 30), NodeLayout(32), NodeLayout(256)}) {
      const HierarchicalMatrix<E> A(a, nodes, Device::cpu(3)), B(b, nodes.size, Device::cpu(3));
      const auto C = add(S(2), A, S(-0.5), B, SumSchedule::tree);
      expect_same_bits(C.to_csr(), sum_of_rows<E>(2, a, -0.5, b));
      expect_true_account(C, nodes.dense);
      if constexpr (has_adjoint<E>) {
        const HierarchicalMatrix<E> other(plain_adjoint(b), nodes.size, Device::cpu(3));
        const auto D = add_adjoint(S(1), A, S(3), other, SumSchedule::tree);
        expect_same_bits(D.to_csr(), sum_of_rows<E>(1, a, 3, b));
        expect_true_account(D, nodes.dense);
        EXPECT_EQ(other.memory().adjoint_schedule, 0);
      }
      EXPECT_EQ(A.memory().schedule, 0);
      EXPECT_EQ(B.memory().schedule, 0);
    }
  }
}

TYPED_TEST(WalkedSums, AreInTheFormOfTheFirstMatrix) {
  using E = TypeParam;
  using S = vector_scalar_t<E>;
  Seed seed(142);
  const auto states = [&] {
    return states_of(random_matrix<E>({.rows = 70, .columns = 70}, seed.generator), {8, 40},
                     Device::cpu(2));
  };
  for (const auto& a : states()) {
    for (const auto& b : states()) {
      expect_same_bits(add(S(0.7), a.tree, S(3), b.tree, SumSchedule::tree).to_csr(),
                       add(S(0.7), a.tree, S(3), b.tree).to_csr());
    }
  }
}

/// Trees of several pools, with shared nodes, after one edit and another.
TEST(WalkedSum, TakesEditedAndSharedTrees) {
  using E = real<double>;
  Seed seed(143);
  EntryMapOf<E> of_a = map_of(random_matrix<E>({.rows = 300, .columns = 250}, seed.generator));
  EntryMapOf<E> of_b;
  for (Index i = 0; i < 250; ++i) {
    for (const Index j : {i, i / 16 * 16, i ^ 3}) {
      if (j < 250) of_b[{i, j}] = {1.0 + (i + j) % 16};
    }
  }
  HierarchicalMatrix<E> A(matrix_of(300, 250, of_a), 8, Device::cpu(3));
  const auto B = HierarchicalMatrix<E>(matrix_of(300, 250, of_b), 8).with_shared_nodes();
  ASSERT_GT(B.memory().shared, 0);
  for (int round = 0; round < 6; ++round) {
    A = A.edited(random_edits<EditBatch, E>(300, 250, 60, of_a, seed.generator));
    expect_same_bits(add(2, A, -1, B, SumSchedule::tree).to_csr(),
                     sum_of_rows<E>(2, matrix_of(300, 250, of_a), -1, matrix_of(300, 250, of_b)));
    expect_same_bits(add(2, B, -1, A, SumSchedule::tree).to_csr(),
                     sum_of_rows<E>(2, matrix_of(300, 250, of_b), -1, matrix_of(300, 250, of_a)));
    EXPECT_EQ(A.memory().schedule, 0);
  }
}

/// Patterns of one size whose pairs meet in every way: empty, one entry, disjoint, the same, full,
/// and filled at random.
std::vector<Pattern> patterns_to_add(Index size, Generator& generator) {
  std::vector<Pattern> patterns;
  const auto add = [&](const auto& has) {
    Pattern pattern{size, size, {0}, {}};
    for (Index row = 0; row < size; ++row) {
      for (Index column = 0; column < size; ++column) {
        if (has(row, column)) pattern.column.push_back(column);
      }
      pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
    }
    patterns.push_back(std::move(pattern));
  };
  const auto random = [&](int percent) {
    return [&, percent](Index, Index) { return random_between(1, 100, generator) <= percent; };
  };
  add([](Index, Index) { return false; });
  add([&](Index row, Index column) { return row == size / 2 && column == size - 1; });
  add([](Index row, Index column) { return row % 8 < 4 && column % 8 < 4; });
  add([](Index row, Index column) { return row % 8 >= 4 && column % 8 >= 4; });
  add([](Index row, Index) { return row < 9; });
  add([](Index, Index column) { return column < 9; });
  add([](Index, Index) { return true; });
  for (const int percent : {1, 20, 60}) add(random(percent));
  return patterns;
}

detail::ScheduledTree tree_of(const Pattern& pattern, const NodeLayout& nodes,
                              Generator& generator) {
  const auto values = random_scalars<double>(pattern.offsets.back(), generator);
  return {detail::tree_of(
              {pattern.rows, pattern.columns, pattern.offsets.data(), pattern.column.data()},
              detail::leaf_shape(nodes, sizeof(double)),
              reinterpret_cast<const std::byte*>(values.data()), Device::cpu(), {}),
          Device::cpu()};
}

void add_numbers(std::span<const detail::SumTerm> terms) {
  for (const auto& [a, b, sum] : terms) {
    double total = 0, more = 0;
    if (a != nullptr) std::memcpy(&total, a, sizeof total);
    if (b != nullptr) std::memcpy(&more, b, sizeof more);
    total += more;
    std::memcpy(sum, &total, sizeof total);
  }
}

void expect_same_trees(const detail::Tree& made, const detail::Tree& expected) {
  EXPECT_EQ(made.entries, expected.entries);
  EXPECT_EQ(made.root.bits, expected.root.bits);
  EXPECT_EQ(made.memory.leaves.of_kind, expected.memory.leaves.of_kind);
  EXPECT_EQ(made.memory.inner.of_kind, expected.memory.inner.of_kind);
  ASSERT_EQ(made.pools.size(), expected.pools.size());
  for (std::size_t i = 0; i < made.pools.size(); ++i) {
    const auto &pool = *made.pools[i].pool, &other = *expected.pools[i].pool;
    ASSERT_EQ(pool.size(), other.size());
    EXPECT_EQ(std::memcmp(pool.data(), other.data(), pool.size()), 0);
  }
}

/// The lanes of a GPU that share a task, one after the other.
template <TaskKind kind>
struct LaneInTurn {
  static constexpr TaskShape shape = task_shape(kind);
  static constexpr int count = shape.lanes;
  int own;

  int lane() const { return own; }
  static int warp_lane() { return 0; }
  static int turns(int) { return shape.slots / shape.lanes; }
  template <class Task>
  static SlotRange part(const Task& task, int slots) {
    const int begin = task.part() * shape.slots;
    return {begin, std::min(slots, begin + shape.slots)};
  }
  template <class T, int n>
  static void sum(T (&)[n]) {}
};

/// The work of a GPU in one thread: every kind of task by its own lanes and parts. Returns the
/// tasks of each kind.
class TasksByKind {
 public:
  explicit TasksByKind(const TreeSumOperation& operation) : operation_(operation) {}

  std::array<long long, task_kinds> run(const PairTask& root) {
    push(operation_.begin(root));
    while (run_some()) {
    }
    return count_;
  }

 private:
  void push(const PairTask& task) {
    if (!task.is_there()) return;
    const TaskWork work = operation_.work_of(task);
    const int slots = task_shape(work.kind).slots;
    const int parts = (work.slots + slots - 1) / slots;
    ASSERT_GT(parts, 0);
    ASSERT_LE(parts, 256);
    for (int part = 0; part < parts; ++part) {
      waiting_[static_cast<std::size_t>(work.kind)].push_back(task.with_part(part));
    }
    count_[static_cast<std::size_t>(work.kind)] += parts;
  }
  bool run_some() {
    return run_some<TaskKind::few_children>() || run_some<TaskKind::many_children>() ||
           run_some<TaskKind::dense_children>() || run_some<TaskKind::few_entries>() ||
           run_some<TaskKind::some_entries>() || run_some<TaskKind::many_entries>() ||
           run_some<TaskKind::dense_entries>();
  }
  template <TaskKind kind>
  bool run_some() {
    const auto tasks = std::exchange(waiting_[static_cast<std::size_t>(kind)], {});
    for (const PairTask& task : tasks) {
      for (LaneInTurn<kind> lane{0}; lane.own < lane.count; ++lane.own) {
        if constexpr (is_leaf(kind)) {
          operation_.template leaf<kind>(task, lane);
        } else {
          operation_.expand(task, lane, [&](const PairTask& child) { push(child); });
        }
      }
    }
    return !tasks.empty();
  }

  const TreeSumOperation& operation_;
  std::array<std::vector<PairTask>, task_kinds> waiting_;
  std::array<long long, task_kinds> count_{};
};

/// The queues have room for all tasks, and each leaf of the sum is found and counted once.
void expect_tasks_of_sum(const detail::Tree& a, const detail::Tree& b, bool transposes_b,
                         const detail::Tree& sum) {
  const auto pools_of_a = detail::addresses_of_pools(a), pools_of_b = detail::addresses_of_pools(b);
  const auto most = static_cast<std::size_t>(a.memory.leaves.nodes() + b.memory.leaves.nodes());
  std::vector<device::TreeLeaf> of_a(most), of_b(most);
  std::vector<unsigned long long> place(most);
  std::vector<int> held(most);
  unsigned found = 0;
  TreeSumOperation walk{};
  walk.pools = pools_of_a.data();
  walk.shape = a.leaf;
  walk.pools_of_b = pools_of_b.data();
  walk.records = {of_a.data(), of_b.data(), place.data(), held.data(), &found, 16};
  walk.transposes_b = transposes_b;
  if (most == 0) return;
  const auto tasks =
      TasksByKind(walk).run({detail::root_task(a, pools_of_a), detail::root_task(b, pools_of_b)});
  detail::TaskNodes nodes{{}, {}, a.leaf.positions()};
  nodes.add(a.memory);
  nodes.add(b.memory);
  const auto room = detail::max_tasks(nodes);
  for (std::size_t kind = 0; kind < tasks.size(); ++kind) EXPECT_LE(tasks[kind], room[kind]);
  EXPECT_EQ(found, sum.memory.leaves.nodes());
  for (std::size_t record = 0; record < found; ++record) {
    const auto leaf = detail::find_node(sum, 0, static_cast<Index>(place[record] >> 16),
                                        static_cast<Index>(place[record] & 0xffff));
    ASSERT_TRUE(leaf.has_value());
    EXPECT_EQ(sum.node(*leaf, 0).count(), held[record]);
  }
}

void expect_same_sums(const Pattern& of_a, const Pattern& of_b, const NodeLayout& nodes_of_a,
                      const NodeLayout& nodes_of_b, Generator& generator) {
  const auto A = tree_of(of_a, nodes_of_a, generator), B = tree_of(of_b, nodes_of_b, generator);
  for (const bool transposes : {false, true}) {
    const auto sum = [&](SumSchedule schedule, int threads) {
      return detail::sum_of_trees(A, B, transposes, add_numbers, Device::cpu(threads), schedule);
    };
    const detail::Tree expected = sum(SumSchedule::kept, 1);
    for (const int threads : {1, 4}) {
      expect_same_trees(sum(SumSchedule::tree, threads), expected);
    }
    expect_tasks_of_sum(A.tree(), B.tree(), transposes, expected);
  }
}

TEST(WalkedSum, HasTheBytesOfAKeptOne) {
  Seed seed(144);
  for (const Index size : {1, 9, 70}) {
    const auto patterns = patterns_to_add(size, seed.generator);
    for (const Pattern& a : patterns) {
      for (const Pattern& b : patterns) {
        for (const auto& [of_a, of_b] :
             {std::pair{NodeLayout(4), NodeLayout(4, 20)},
              {NodeLayout(8, NodeLayout::never), NodeLayout(8)},
              {NodeLayout(128, 1), NodeLayout(128)},
              {NodeLayout(256, NodeLayout::never), NodeLayout(256, NodeLayout::never)}}) {
          SCOPED_TRACE(testing::Message()
                       << size << " rows, " << a.offsets.back() << " and " << b.offsets.back()
                       << " entries, " << to_string(of_a) << ", " << to_string(of_b));
          expect_same_sums(a, b, of_a, of_b, seed.generator);
          if (testing::Test::HasFailure()) return;
        }
      }
    }
  }
}

/// Inner nodes with more children together than places, and large leaves in several parts.
TEST(WalkedSum, CutsLargeNodesIntoParts) {
  Seed seed(145);
  const auto filled = [&](Index size, int percent) {
    Pattern pattern{size, size, {0}, {}};
    for (Index row = 0; row < size; ++row) {
      for (Index column = 0; column < size; ++column) {
        if (random_between(1, 100, seed.generator) <= percent) pattern.column.push_back(column);
      }
      pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
    }
    return pattern;
  };
  // Nodes of 4 x 4 leaves: inner ones are sparse up to 12 children.
  const NodeLayout small(4, NodeLayout::never);
  for (const int percent : {3, 7, 12}) {
    expect_same_sums(filled(64, percent), filled(64, percent), small, small, seed.generator);
  }
  // Sparse roots of 256 x 256 places, which hold more children together.
  const auto corners_of_leaves = [](Index first, Index last) {
    Pattern pattern{65536, 65536, {0}, {}};
    for (Index row = 0; row < pattern.rows; ++row) {
      for (Index leaf = first; row % 256 == 0 && leaf < last; ++leaf) {
        pattern.column.push_back(256 * leaf);
      }
      pattern.offsets.push_back(static_cast<Offset>(pattern.column.size()));
    }
    return pattern;
  };
  expect_same_sums(corners_of_leaves(0, 157), corners_of_leaves(99, 256), 256, 256, seed.generator);
  for (const auto& [of_a, of_b] : {std::pair{NodeLayout::never, NodeLayout::never},
                                   {1, NodeLayout::never},
                                   {NodeLayout::never, 1},
                                   {1, 1}}) {
    expect_same_sums(filled(300, 40), filled(300, 30), {256, of_a}, {256, of_b}, seed.generator);
  }
}

/// Far corners of a large matrix: a node for each level, and places beyond 16 bits.
TEST(WalkedSum, ReachesFarCorners) {
  using E = real<double>;
  EntryMapOf<E> of_a, of_b;
  for (const Index row : {0, 1'999'999}) {
    for (const Index column : {0, 1'000'000}) of_a[{row, column}] = {1.0 + row + column};
    of_b[{row, 999'999}] = {2};
  }
  of_b[{0, 0}] = {3};
  const auto a = matrix_of(2'000'000, 1'000'001, of_a), b = matrix_of(2'000'000, 1'000'001, of_b);
  for (const int node : {16, 64}) {
    const HierarchicalMatrix<E> A(a, node), B(b, node), adjoint_of_b(plain_adjoint(b), node);
    const auto expected = sum_of_rows<E>(1, a, -2, b);
    expect_same_bits(add(1, A, -2, B, SumSchedule::tree).to_csr(), expected);
    expect_same_bits(add_adjoint(1, A, -2, adjoint_of_b, SumSchedule::tree).to_csr(), expected);
  }
}

}  // namespace
}  // namespace walked_sums
