// The tree over the groups of all ranks, cut anywhere, against the sums of one process.
#include "distributed/group_tree.hpp"

#include <gtest/gtest.h>

#include <algorithm>
#include <vector>

#include "heddle/detail/reduction.hpp"
#include "support/random_matrix.hpp"

namespace heddle::test::group_tree {
namespace {

double whole_sum(const std::vector<double>& of_groups) {
  Reduction<double> reduction(static_cast<Index>(of_groups.size()) * rows_of_group, Device::cpu(1));
  for (std::size_t g = 0; g < of_groups.size(); ++g) {
    *reduction.partials(static_cast<Offset>(g)) = of_groups[g];
  }
  return reduction.finish(1)[0];
}

double sum_over_ranks(std::vector<double> sums, const std::vector<long long>& first_groups) {
  const auto groups = static_cast<long long>(sums.size());
  const auto at = [&](long long g) -> double& { return sums[static_cast<std::size_t>(g)]; };
  for (std::size_t r = 0; r + 1 < first_groups.size(); ++r) {
    detail::join_range(first_groups[r], first_groups[r + 1], groups,
                       [&](long long g, long long h) { at(g) += at(h); });
  }
  const detail::GroupTree tree(first_groups);
  std::vector<double> nodes;
  nodes.reserve(tree.nodes.size());
  for (const detail::GroupNode& node : tree.nodes) nodes.push_back(at(node.first));
  for (const auto& [a, b] : tree.joinings) {
    nodes[static_cast<std::size_t>(a)] += nodes[static_cast<std::size_t>(b)];
  }
  return nodes.empty() ? 0 : nodes.front();
}

TEST(GroupTree, GivesTheSumOfOneProcessBitForBit) {
  Seed seed(61);
  for (int round = 0; round < 2000; ++round) {
    const int groups = random_between(0, round < 1000 ? 20 : 300, seed.generator);
    const int ranks = random_between(1, 9, seed.generator);
    std::vector<double> sums(static_cast<std::size_t>(groups));
    for (double& sum : sums) sum = random_components<real<double>>(seed.generator).component[0];
    std::vector<long long> first{0};
    for (int r = 1; r < ranks; ++r) first.push_back(random_between(0, groups, seed.generator));
    std::sort(first.begin(), first.end());
    first.push_back(groups);
    ASSERT_EQ(sum_over_ranks(sums, first), whole_sum(sums)) << groups << " groups";
  }
}

TEST(GroupTree, HasFewNodesARank) {
  const detail::GroupTree tree({0, 1, 511, 512});
  EXPECT_EQ(tree.nodes_of_rank, (std::vector<int>{1, 16, 1}));
  EXPECT_EQ(tree.joinings.size(), tree.nodes.size() - 1);
}

}  // namespace
}  // namespace heddle::test::group_tree
