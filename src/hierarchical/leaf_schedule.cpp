#include "heddle/detail/leaf_schedule.hpp"

#include <utility>

#include "heddle/tools/team.hpp"

namespace heddle::detail {

namespace {

/// Trees that were edited so often without a product make their schedules anew.
constexpr std::size_t most_batches = 64;

/// Calls `body(block of y, block of x, leaf)` with each leaf below a node whose blocks of y are
/// those of `group`: the d blocks that one node of level 1 covers.
template <class Body>
void for_each_leaf_of(const Tree& tree, bool by_columns, Index group, NodeReference at, int level,
                      Index row, Index column, const Body& body) {
  if (level == 0) return by_columns ? body(column, row, at) : body(row, column, at);
  const int log2_size = tree.leaf.log2_size;
  if ((by_columns ? column : row) != group >> (log2_size * (level - 1))) return;
  tree.node(at, level).for_each([&](LocalPlace place, int payload) {
    for_each_leaf_of(tree, by_columns, group, child_at(tree.node(at, level), payload), level - 1,
                     row << log2_size | place.row, column << log2_size | place.column, body);
  });
}

}  // namespace

LeafSchedule leaf_schedule(const Tree& tree, bool by_columns, const Device& device) {
  const auto blocks =
      static_cast<std::size_t>(tree.leaf.blocks_of(by_columns ? tree.columns : tree.rows));
  const auto leaves = static_cast<std::size_t>(tree.memory.leaves.nodes());
  LeafSchedule schedule{Array<Offset>(blocks + 1, device), Array<Index>(leaves, device),
                        Array<NodeReference>(leaves, device)};
  if (leaves == 0) return schedule;
  Array<Offset>& first = schedule.first;
  const int levels = levels_of(tree.rows, tree.columns, tree.leaf.log2_size);
  const Offset groups = tree.leaf.blocks_of(static_cast<Offset>(blocks));
  const int team = team_size(device.stream(), static_cast<Offset>(leaves) * 16);
  const auto for_each = [&](const auto& body) {
    parallel_for(team, groups, 1, [&](Offset group) {
      for_each_leaf_of(tree, by_columns, static_cast<Index>(group), tree.root, levels - 1, 0, 0,
                       body);
    });
  };
  for_each([&](Index y, Index, NodeReference) { ++first[static_cast<std::size_t>(y) + 1]; });
  for (std::size_t block = 1; block <= blocks; ++block) first[block] += first[block - 1];
  Array<Offset> next(first);
  for_each([&](Index y, Index x, NodeReference leaf) {
    const auto to = static_cast<std::size_t>(next[static_cast<std::size_t>(y)]++);
    schedule.block[to] = x;
    schedule.leaf[to] = leaf;
  });
  return schedule;
}

ScheduledTree::ScheduledTree(EditedTree edited, const ScheduledTree& before, const Device& device)
    : tree_(std::move(edited.tree)), device_(device) {
  if (edited.changes == nullptr) return;
  const std::lock_guard lock(before.making_);
  for (std::size_t k = 0; k < schedules_.size(); ++k) {
    const Schedule& known = before.schedules_[k];
    if (known.whole) {
      schedules_[k] = {nullptr, known.whole, {edited.changes}};
    } else if (known.earlier && known.changes.size() < most_batches) {
      schedules_[k] = known;
      schedules_[k].changes.push_back(edited.changes);
    }
  }
}

const LeafSchedule& ScheduledTree::schedule(bool by_columns) const {
  const std::lock_guard lock(making_);
  Schedule& schedule = schedules_[by_columns ? 1 : 0];
  if (schedule.whole) return *schedule.whole;
  auto made = schedule.earlier
                  ? mended_schedule(*schedule.earlier, schedule.changes, by_columns, device_)
                  : leaf_schedule(tree_, by_columns, device_);
  schedule = {std::make_shared<const LeafSchedule>(std::move(made)), nullptr, {}};
  return *schedule.whole;
}

HierarchicalMemory ScheduledTree::memory() const {
  const std::lock_guard lock(making_);
  HierarchicalMemory memory = tree_.memory;
  if (schedules_[0].whole) memory.schedule = schedules_[0].whole->bytes();
  if (schedules_[1].whole) memory.adjoint_schedule = schedules_[1].whole->bytes();
  return memory;
}

std::vector<std::shared_ptr<const LeafSchedule>> ScheduledTree::held_schedules() const {
  const std::lock_guard lock(making_);
  std::vector<std::shared_ptr<const LeafSchedule>> held;
  for (const Schedule& schedule : schedules_) {
    if (schedule.whole) held.push_back(schedule.whole);
    if (schedule.earlier) held.push_back(schedule.earlier);
  }
  return held;
}

NodeLevel leaf_level(const Tree& tree, const LeafSchedule& by_rows, const Device& device) {
  NodeLevel level;
  level.rows = static_cast<Index>(tree.leaf.blocks_of(tree.rows));
  level.columns = static_cast<Index>(tree.leaf.blocks_of(tree.columns));
  level.offsets = by_rows.first;
  level.column = by_rows.block;
  level.held = Array<int>(by_rows.leaf.size(), device);
  const int team = team_size(device.stream(), tree.entries);
  parallel_for(team, by_rows.leaf.size(),
               [&](std::size_t i) { level.held[i] = tree.node(by_rows.leaf[i], 0).count(); });
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
