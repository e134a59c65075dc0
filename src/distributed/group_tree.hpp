// The one pairwise tree over the groups of 256 rows of all ranks, cut where the ranks' ranges end.
#pragma once

#include <utility>
#include <vector>

namespace heddle::detail {

/// A subtree of the tree: the groups [first, first + width) of those that there are.
struct GroupNode {
  long long first;
  long long width;  // 2^i
};

/// What each rank can join by itself are the largest subtrees within its range, at most
/// 2 log2(groups); joining those in the order of the tree gives the sums that one process would
/// have, bit for bit.
struct GroupTree {
  /// `first_groups`: of each rank, and the number of all groups.
  explicit GroupTree(const std::vector<long long>& first_groups);

  std::vector<int> nodes_of_rank;
  std::vector<GroupNode> nodes;               // of all ranks, one behind the other
  std::vector<std::pair<int, int>> joinings;  // nodes[a] becomes the join with nodes[b]; a < b
};

/// Joins what lies within [begin, end) of `groups`, from the leaves up: `join(g, h)` adds what
/// group h has come to to that of group g. Behind it each node's first group has its join.
template <class Join>
void join_range(long long begin, long long end, long long groups, const Join& join) {
  for (long long half = 1; half < groups && half < end - begin; half *= 2) {
    const long long step = 2 * half;
    for (long long g = (begin + step - 1) / step * step; g + half < end; g += step) {
      const long long last = g + step < groups ? g + step : groups;
      if (last <= end) join(g, g + half);
    }
  }
}

}  // namespace heddle::detail
