#include "heddle/detail/leaf_schedule.hpp"

#include <utility>

#include "heddle/tools/team.hpp"

namespace heddle::detail {

LeafSchedule leaf_schedule(const Tree& tree, bool by_columns, const Device& device) {
  const auto blocks =
      static_cast<std::size_t>(tree.leaf.blocks_of(by_columns ? tree.columns : tree.rows));
  const auto leaves = static_cast<std::size_t>(tree.memory.leaves.nodes());
  LeafSchedule schedule{Array<Offset>(blocks + 1, device), Array<Index>(leaves, device),
                        Array<NodeReference>(leaves, device)};
  Array<Offset>& first = schedule.first;
  for_each_leaf(tree, [&](Index row, Index column, NodeReference) {
    ++first[static_cast<std::size_t>(by_columns ? column : row) + 1];
  });
  for (std::size_t block = 1; block <= blocks; ++block) first[block] += first[block - 1];
  Array<Offset> next(first);
  for_each_leaf(tree, [&](Index row, Index column, NodeReference leaf) {
    const auto to =
        static_cast<std::size_t>(next[static_cast<std::size_t>(by_columns ? column : row)]++);
    schedule.block[to] = by_columns ? row : column;
    schedule.leaf[to] = leaf;
  });
  return schedule;
}

const LeafSchedule& ScheduledTree::schedule(bool by_columns) const {
  const std::lock_guard lock(making_);
  std::optional<LeafSchedule>& schedule = schedules_[by_columns ? 1 : 0];
  if (!schedule) schedule = leaf_schedule(tree_, by_columns, device_);
  return *schedule;
}

HierarchicalMemory ScheduledTree::memory() const {
  const std::lock_guard lock(making_);
  HierarchicalMemory memory = tree_.memory;
  if (schedules_[0]) memory.schedule = schedules_[0]->bytes();
  if (schedules_[1]) memory.adjoint_schedule = schedules_[1]->bytes();
  return memory;
}

NodeLevel leaf_level(const Tree& tree, const LeafSchedule& by_rows, const Device& device) {
  NodeLevel level;
  level.rows = static_cast<Index>(tree.leaf.blocks_of(tree.rows));
  level.columns = static_cast<Index>(tree.leaf.blocks_of(tree.columns));
  level.offsets = by_rows.first;
  level.column = by_rows.block;
  level.held = Array<int>(by_rows.leaf.size(), device);
  for (std::size_t i = 0; i < by_rows.leaf.size(); ++i) {
    level.held[i] = tree.node(by_rows.leaf[i], 0).count();
  }
  return level;
}

Tree compacted(const Tree& tree, const Device& device) {
  const LeafSchedule leaves = leaf_schedule(tree, false, device);
  TreeBuilder builder(tree.rows, tree.columns, tree.leaf, leaf_level(tree, leaves, device), device);
  const auto count = static_cast<Offset>(leaves.leaf.size());
  parallel_for(team_size(device.stream(), tree.entries), count, [&](Offset i) {
    const NodeView leaf = tree.node(leaves.leaf[static_cast<std::size_t>(i)], 0);
    std::memcpy(builder.bytes_of(0, i), leaf.data,
                static_cast<std::size_t>(tree.leaf.bytes(leaf.count())));
  });
  return builder.finish();
}

}  // namespace heddle::detail
