#include "group_tree.hpp"

#include <algorithm>
#include <cstddef>
#include <numeric>

#include "heddle/detail/reduction.hpp"
#include "heddle/partition.hpp"

namespace heddle::detail {

namespace {

/// The largest subtree that begins with group `first` and ends within `end`.
GroupNode largest_node(long long first, long long end, long long groups, long long max_width) {
  long long width = 1;
  while (width < max_width && first % (2 * width) == 0 && width < groups &&
         std::min(first + 2 * width, groups) <= end) {
    width *= 2;
  }
  return {first, width};
}

/// The nodes of a rank, in the order of its groups.
std::vector<GroupNode> nodes_of(const Partition& partition, int rank, long long groups,
                                long long max_width) {
  const long long own = (partition.rows_of(rank) + rows_of_group - 1) / rows_of_group;
  const auto place = [&](long long group) { return partition.place_of_group(rank, group); };
  std::vector<GroupNode> nodes;
  for (long long group = 0; group < own;) {
    long long next = group + 1;
    while (next < own && place(next) == place(next - 1) + 1) ++next;
    const long long end = place(next - 1) + 1;
    for (long long first = place(group); first < end; first += nodes.back().width) {
      nodes.push_back(largest_node(first, end, groups, max_width));
    }
    group = next;
  }
  return nodes;
}

}  // namespace

GroupTree::GroupTree(const Partition& partition, long long max_width)
    : groups((partition.rows() + rows_of_group - 1) / rows_of_group) {
  for (int rank = 0; rank < partition.ranks(); ++rank) {
    const std::vector<GroupNode> own = nodes_of(partition, rank, groups, max_width);
    nodes_of_rank.push_back(static_cast<int>(own.size()));
    nodes.insert(nodes.end(), own.begin(), own.end());
  }
  std::vector<int> by_place(nodes.size());
  std::iota(by_place.begin(), by_place.end(), 0);
  std::sort(by_place.begin(), by_place.end(), [&](int a, int b) {
    return nodes[static_cast<std::size_t>(a)].first < nodes[static_cast<std::size_t>(b)].first;
  });
  // A subtree joins the one before it as soon as both are complete. Nothing follows the last group:
  // the tree's last subtree grows without a join.
  struct Whole {
    long long first, width;
    int node;
  };
  std::vector<Whole> whole;
  for (std::size_t n = 0; n < by_place.size(); ++n) {
    const GroupNode& node = nodes[static_cast<std::size_t>(by_place[n])];
    Whole last{node.first, node.width, by_place[n]};
    const bool is_end = n + 1 == by_place.size();
    for (;;) {
      const bool is_right = last.first % (2 * last.width) != 0;
      if (is_right && !whole.empty()) {
        joinings.emplace_back(whole.back().node, last.node);
        last = {whole.back().first, 2 * last.width, whole.back().node};
        whole.pop_back();
      } else if (is_end && !whole.empty()) {
        last.width *= 2;
      } else {
        break;
      }
    }
    whole.push_back(last);
  }
  if (!by_place.empty()) root = by_place.front();
}

std::vector<GroupNode> GroupTree::own_nodes(int rank) const {
  const auto first = std::accumulate(nodes_of_rank.begin(), nodes_of_rank.begin() + rank, 0);
  std::vector<GroupNode> own(nodes.begin() + first,
                             nodes.begin() + first + nodes_of_rank[static_cast<std::size_t>(rank)]);
  long long next_group = 0;
  for (GroupNode& node : own) {
    const long long count = std::min(node.width, groups - node.first);
    node.first = next_group;
    next_group += count;
  }
  return own;
}

std::vector<Index> places_of_groups(const std::vector<GroupNode>& own_nodes,
                                    const std::vector<Index>& group_at, long long max_width) {
  std::vector<Index> places;
  for (const GroupNode& node : own_nodes) {
    for (long long k = 0; k < max_width; ++k) {
      const auto at = static_cast<std::size_t>(node.first + k);
      places.push_back(k < node.width && at < group_at.size() ? group_at[at] : -1);
    }
  }
  return places;
}

std::vector<int> sort_by_level(std::vector<std::pair<int, int>>& joinings, std::size_t nodes) {
  std::vector<int> level_of_node(nodes, 0);
  std::vector<std::pair<int, std::pair<int, int>>> with_level;
  for (const auto& joining : joinings) {
    int& to = level_of_node[static_cast<std::size_t>(joining.first)];
    const int level = std::max(to, level_of_node[static_cast<std::size_t>(joining.second)]);
    with_level.emplace_back(level, joining);
    to = level + 1;
  }
  std::stable_sort(with_level.begin(), with_level.end(),
                   [](const auto& a, const auto& b) { return a.first < b.first; });
  std::vector<int> levels;
  for (std::size_t j = 0; j < with_level.size(); ++j) {
    joinings[j] = with_level[j].second;
    if (with_level[j].first == static_cast<int>(levels.size())) {
      levels.push_back(static_cast<int>(j));
    }
  }
  levels.push_back(static_cast<int>(joinings.size()));
  return levels;
}

}  // namespace heddle::detail
