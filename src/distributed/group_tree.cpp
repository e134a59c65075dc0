#include "group_tree.hpp"

#include <algorithm>

namespace heddle::detail {

namespace {

/// The largest subtree that begins with group `first` and ends within `end`.
GroupNode largest_node(long long first, long long end, long long groups) {
  long long width = 1;
  while (first % (2 * width) == 0 && width < groups && std::min(first + 2 * width, groups) <= end) {
    width *= 2;
  }
  return {first, width};
}

}  // namespace

GroupTree::GroupTree(const std::vector<long long>& first_groups) {
  const long long groups = first_groups.back();
  for (std::size_t r = 0; r + 1 < first_groups.size(); ++r) {
    int count = 0;
    for (long long group = first_groups[r]; group < first_groups[r + 1]; ++count) {
      nodes.push_back(largest_node(group, first_groups[r + 1], groups));
      group += nodes.back().width;
    }
    nodes_of_rank.push_back(count);
  }
  // A subtree joins the one in front of it as soon as both are whole. Behind the last group there
  // is nothing: the tree's last subtree grows without a join.
  struct Whole {
    long long first, width;
    int node;
  };
  std::vector<Whole> whole;
  for (std::size_t n = 0; n < nodes.size(); ++n) {
    Whole last{nodes[n].first, nodes[n].width, static_cast<int>(n)};
    const bool is_end = n + 1 == nodes.size();
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
}

}  // namespace heddle::detail
