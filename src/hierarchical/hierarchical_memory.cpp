#include "heddle/hierarchical_memory.hpp"

#include <cmath>
#include <utility>
#include <vector>

#include "base/readable.hpp"
#include "heddle/detail/leaf_schedule.hpp"
#include "heddle/detail/tree.hpp"

namespace heddle {

double HierarchicalMemory::paper_formula(int node_size, int entry_bytes) const {
  if (leaves.nodes() == 0) return 0;
  const double L = static_cast<double>(leaves.nodes()), N = static_cast<double>(inner.nodes());
  const double bits = 2 * std::log2(node_size) + 8.0 * entry_bytes;
  return (1 + N / L) * (static_cast<double>(leaves.items) * bits + 32 * L) / 8;
}

std::string name_of_dense(const NodeLayout& nodes) {
  return nodes.dense == NodeLayout::by_bytes ? "bytes"
         : nodes.dense == NodeLayout::never  ? "never"
                                             : std::to_string(nodes.dense);
}

std::string to_string(const NodeLayout& nodes) {
  return "node=" + std::to_string(nodes.size) +
         (nodes.dense == NodeLayout::by_bytes ? "" : ",dense=" + name_of_dense(nodes));
}

HierarchicalMemory hierarchical_memory(const PatternView& pattern, const NodeLayout& nodes,
                                       int entry_bytes, const Device& device) {
  const NodeShape leaf = detail::leaf_shape(nodes, entry_bytes);
  const int log2_size = leaf.log2_size;
  check_sizes(pattern);
  check_pattern(pattern, device);
  std::vector<detail::NodeLevel> levels;
  levels.push_back(detail::group_into_nodes(pattern, log2_size, device));
  while (static_cast<int>(levels.size()) <
         detail::levels_of(pattern.rows, pattern.columns, log2_size)) {
    levels.push_back(detail::group_into_nodes(levels.back().pattern(), log2_size, device));
  }
  HierarchicalMemory memory = detail::count_nodes(levels, leaf, device);
  const Offset leaves = memory.leaves.nodes();
  memory.schedule = detail::LeafSchedule::bytes(levels.front().rows, leaves);
  memory.adjoint_schedule = detail::LeafSchedule::bytes(levels.front().columns, leaves);
  return memory;
}

std::string to_string(const HierarchicalMemory& memory) {
  return "leaves " + readable_bytes(memory.leaves.bytes) + ", inner nodes " +
         readable_bytes(memory.inner.bytes) + ", schedules " +
         readable_bytes(memory.schedule + memory.adjoint_schedule);
}

}  // namespace heddle
