// The tree over the groups of all ranks, cut anywhere, against the sums of one process.
#include "distributed/group_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
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

TEST(GroupTree, GivesTheSumOfOneProcessBitForBit) {
  Seed seed(61);
  for (int round = 0; round < 2000; ++round) {
    const int groups = random_between(0, round < 1000 ? 20 : 300, seed.generator);
    const int ranks = random_between(1, 9, seed.generator);
    std::vector<double> sums(static_cast<std::size_t>(groups));
    for (double& sum : sums) sum = random_components<real<double>>(seed.generator).component[0];
    // The last group may be shorter.
    const Index rows =
        std::max(0, groups * rows_of_group - random_between(0, rows_of_group - 1, seed.generator));
    for (const Partition& partition : {random_partition(rows, ranks, seed.generator),
                                       random_owners(rows, ranks, seed.generator)}) {
      ASSERT_EQ(sum_over_ranks(sums, partition), whole_sum(sums)) << groups << " groups";
    }
  }
}

TEST(GroupTree, HasFewNodesARank) {
  const detail::GroupTree tree(Partition({0, 256, 511 * 256, 512 * 256}));
  EXPECT_EQ(tree.nodes_of_rank, (std::vector<int>{1, 16, 1}));
  EXPECT_EQ(tree.joinings.size(), tree.nodes.size() - 1);
}

}  // namespace
}  // namespace heddle::test::group_tree
