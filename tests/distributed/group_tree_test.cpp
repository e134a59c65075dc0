// The tree over the groups of all ranks, cut anywhere, compared with the sums of one process.
#include "distributed/partition/group_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <numeric>
#include <utility>
#include <vector>

#include "heddle/detail/reduction.hpp"
#include "support/on_ranks.hpp"

namespace heddle::test::group_tree {
namespace {

double whole_sum(const std::vector<double>& of_groups) {
  Reduction<double> reduction(static_cast<Index>(of_groups.size()) * rows_of_group, Device::cpu(1));
  for (std::size_t g = 0; g < of_groups.size(); ++g) {
    *reduction.partials(static_cast<Offset>(g)) = of_groups[g];
  }
  return reduction.finish(1)[0];
}

double sum_over_ranks(std::vector<double> sums, const Partition& partition) {
  const detail::GroupTree tree(partition);
  std::vector<double> nodes;
  for (int rank = 0; rank < partition.ranks(); ++rank) {
    const auto at = [&](long long own) -> double& {
      return sums[static_cast<std::size_t>(partition.place_of_group(rank, own))];
    };
    const long long own_groups = (partition.rows_of(rank) + rows_of_group - 1) / rows_of_group;
    for (const detail::GroupNode& node : tree.own_nodes(rank)) {
      detail::join_node(node, own_groups, [&](long long g, long long h) { at(g) += at(h); });
      nodes.push_back(at(node.first));
    }
  }
  for (const auto& [a, b] : tree.joinings) {
    nodes[static_cast<std::size_t>(a)] += nodes[static_cast<std::size_t>(b)];
  }
  return nodes.empty() ? 0 : nodes[static_cast<std::size_t>(tree.root)];
}

/// Calls `check(sums, partition)` for random sums of groups, in rounds with few of them and with up
/// to `most`.
template <class Check>
void for_random_groups(std::uint64_t number, int few_rounds, int rounds, int most,
                       const Check& check) {
  Seed seed(number);
  for (int round = 0; round < rounds; ++round) {
    const int groups = random_between(0, round < few_rounds ? 20 : most, seed.generator);
    const int ranks = random_between(1, 9, seed.generator);
    std::vector<double> sums(static_cast<std::size_t>(groups));
    for (double& sum : sums) sum = random_components<real<double>>(seed.generator).component[0];
    // The last group may be shorter.
    const Index rows =
        std::max(0, groups * rows_of_group - random_between(0, rows_of_group - 1, seed.generator));
    for (const Partition& partition : {random_partition(rows, ranks, seed.generator),
                                       random_owners(rows, ranks, seed.generator)}) {
      check(sums, partition);
    }
  }
}

TEST(GroupTree, GivesTheSumOfOneProcessBitForBit) {
  for_random_groups(61, 1000, 2000, 300, [](const auto& sums, const Partition& partition) {
    ASSERT_EQ(sum_over_ranks(sums, partition), whole_sum(sums)) << sums.size() << " groups";
  });
}

/// Joins like the kernels (kernels/rank_sums.cuh): a thread has one group of a node, and the sums
/// of a level are joined in any order.
double sum_by_kernels(const std::vector<double>& sums, const Partition& partition,
                      long long max_width) {
  const detail::GroupTree tree(partition, max_width);
  const auto width = static_cast<std::size_t>(max_width);
  std::vector<double> nodes;
  for (int rank = 0; rank < partition.ranks(); ++rank) {
    const long long own_groups = (partition.rows_of(rank) + rows_of_group - 1) / rows_of_group;
    // Fields have another order of groups than the tree.
    std::vector<Index> group_at(static_cast<std::size_t>(own_groups));
    std::iota(group_at.rbegin(), group_at.rend(), 0);
    const auto own = tree.own_nodes(rank);
    const std::vector<Index> places = detail::places_of_groups(own, group_at, max_width);
    EXPECT_EQ(places.size(), own.size() * width);
    for (std::size_t n = 0; n < own.size(); ++n) {
      const Index* const of_node = places.data() + n * width;
      const auto groups = static_cast<std::size_t>(
          std::count_if(of_node, of_node + width, [](Index at) { return at >= 0; }));
      std::vector<double> of_thread;
      for (std::size_t t = 0; t < groups; ++t) {
        const long long group = own_groups - 1 - of_node[t];
        of_thread.push_back(sums[static_cast<std::size_t>(partition.place_of_group(rank, group))]);
      }
      for (std::size_t half = 1; half < width; half *= 2) {
        for (std::size_t t = 0; t + half < groups; t += 2 * half)
          of_thread[t] += of_thread[t + half];
      }
      nodes.push_back(of_thread.at(0));
    }
  }
  std::vector<std::pair<int, int>> joinings = tree.joinings;
  const std::vector<int> levels = detail::sort_by_level(joinings, nodes.size());
  for (std::size_t level = 0; level + 1 < levels.size(); ++level) {
    for (int j = levels[level + 1]; j-- > levels[level];) {
      const auto& [a, b] = joinings[static_cast<std::size_t>(j)];
      nodes[static_cast<std::size_t>(a)] += nodes[static_cast<std::size_t>(b)];
    }
  }
  return nodes.empty() ? 0 : nodes[static_cast<std::size_t>(tree.root)];
}

TEST(GroupTree, GivesThatSumInNodesOfAnyWidth) {
  for_random_groups(62, 150, 200, 1500, [](const auto& sums, const Partition& partition) {
    const double expected = whole_sum(sums);
    for (const long long max_width : {1LL, 4LL, 256LL}) {
      ASSERT_EQ(sum_by_kernels(sums, partition, max_width), expected)
          << sums.size() << " groups, " << max_width << " in a node";
    }
  });
}

TEST(GroupTree, HasFewNodesARank) {
  const detail::GroupTree tree(Partition({0, 256, 511 * 256, 512 * 256}));
  EXPECT_EQ(tree.nodes_of_rank, (std::vector<int>{1, 16, 1}));
  EXPECT_EQ(tree.joinings.size(), tree.nodes.size() - 1);
}

}  // namespace
}  // namespace heddle::test::group_tree
