// The one pairwise tree over the groups of 256 rows of all ranks, cut where groups of two ranks
// meet.
#pragma once

#include <limits>
#include <utility>
#include <vector>

#include "heddle/entries/slots.hpp"

namespace heddle {

class Partition;

namespace detail {

/// A subtree of the tree: those of the groups [first, first + width) that exist.
struct GroupNode {
  long long first;
  long long width;  // 2^i
};

/// Each rank can join by itself the largest subtrees all of whose groups it has, at most 2
/// log2(groups) for each range of groups. Joining those in the order of the tree gives the sums
/// that one process would have, bit for bit.
struct GroupTree {
  /// `max_width`: the largest width of a node, 2^i.
  explicit GroupTree(const Partition& partition,
                     long long max_width = std::numeric_limits<long long>::max());

  long long groups;
  std::vector<int> nodes_of_rank;
  std::vector<GroupNode> nodes;               // for all ranks, one after another
  std::vector<std::pair<int, int>> joinings;  // nodes[a] becomes the join with nodes[b] after it
  int root = 0;                               // the node that all of them are joined into

  /// A rank's nodes, by the places of their groups among the rank's, in its order.
  std::vector<GroupNode> own_nodes(int rank) const;
};

/// For each group of a rank's nodes, `max_width` groups per node: where its partial sums lie, or
/// -1 for groups that do not exist. `group_at`: the same for the rank's groups, in its order.
std::vector<Index> places_of_groups(const std::vector<GroupNode>& own_nodes,
                                    const std::vector<Index>& group_at, long long max_width);

/// Sorts joinings of `nodes` nodes by level: joinings need only joins of earlier levels. Returns
/// where each level begins, and the end.
std::vector<int> sort_by_level(std::vector<std::pair<int, int>>& joinings, std::size_t nodes);

/// Joins a subtree of the first `groups` groups from the leaves up: `join(g, h)` adds the result of
/// group h to that of group g. The node's first group then has its join.
template <class Join>
void join_node(const GroupNode& node, long long groups, const Join& join) {
  for (long long half = 1; half < node.width; half *= 2) {
    for (long long at = 0; at + half < node.width; at += 2 * half) {
      if (node.first + at + half >= groups) break;
      join(node.first + at, node.first + at + half);
    }
  }
}

}  // namespace detail

}  // namespace heddle
