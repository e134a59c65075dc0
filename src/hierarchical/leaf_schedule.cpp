#include "heddle/detail/trees/leaf_schedule.hpp"

#include <algorithm>
#include <cstring>
#include <memory>
#include <utility>

#include "heddle/tools/team.hpp"

namespace heddle::detail {

namespace {

/// Schedules are mended if at most one leaf in this many has changed.
constexpr std::size_t leaves_of_a_change = 8;

/// Calls `body(block of y, block of x, leaf)` for each leaf below a node whose blocks of y are
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
  const auto blocks_of_x =
      static_cast<Index>(tree.leaf.blocks_of(by_columns ? tree.rows : tree.columns));
  const auto leaves = static_cast<std::size_t>(tree.memory.leaves.nodes());
  auto places = std::make_shared<LeafPlaces>(
      LeafPlaces{Array<Offset>(blocks + 1, device), BlockNumbers(blocks_of_x, leaves, device)});
  auto references = std::make_shared<Array<NodeReference>>(leaves, device);
  if (leaves == 0) return {std::move(places), std::move(references)};
  Array<Offset>& first = places->first;
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
    places->block.set(to, x);
    (*references)[to] = leaf;
  });
  return {std::move(places), std::move(references)};
}

ScheduledTree::ScheduledTree(EditedTree edited, const ScheduledTree& before, const Device& device)
    : tree_(std::move(edited.tree)), device_(device) {
  if (edited.changes == nullptr) return;
  for (std::size_t k = 0; k < schedules_.size(); ++k) {
    Schedule known = before.known(k);
    if (!edited.changes->empty()) {
      if (known.whole) known = {nullptr, std::move(known.whole), {}};
      if (!known.earlier) continue;
      known.changes.push_back(edited.changes);
      std::size_t changes = 0;
      for (const auto& batch : known.changes) changes += batch->size();
      if (changes > known.earlier->references->size() / leaves_of_a_change) continue;
    }
    schedules_[k] = std::move(known);
  }
}

ScheduledTree::Schedule ScheduledTree::known(std::size_t k) const {
  const std::lock_guard lock(reading_);
  return schedules_[k];
}

const LeafSchedule& ScheduledTree::schedule(bool by_columns) const {
  const std::size_t k = by_columns ? 1 : 0;
  if (const Schedule now = known(k); now.whole) return *now.whole;
  const std::lock_guard one_at_a_time(making_[k]);
  const Schedule now = known(k);
  if (now.whole) return *now.whole;
  auto whole = std::make_shared<const LeafSchedule>(
      now.earlier ? mended_schedule(*now.earlier, now.changes, by_columns, device_)
                  : leaf_schedule(tree_, by_columns, device_));
  const std::lock_guard lock(reading_);
  schedules_[k] = {std::move(whole), nullptr, {}};
  return *schedules_[k].whole;
}

HierarchicalMemory ScheduledTree::memory() const {
  HierarchicalMemory memory = tree_.memory;
  if (tree_.shares_nodes) memory.shared = std::max(0LL, memory.tree() - tree_.held_bytes());
  if (const Schedule by_rows = known(0); by_rows.whole) memory.schedule = by_rows.whole->bytes();
  if (const Schedule by_columns = known(1); by_columns.whole) {
    memory.adjoint_schedule = by_columns.whole->bytes();
  }
  return memory;
}

bool ScheduledTree::has_schedules() const {
  const std::lock_guard lock(reading_);
  return std::any_of(schedules_.begin(), schedules_.end(),
                     [](const Schedule& schedule) { return schedule.whole || schedule.earlier; });
}

void ScheduledTree::add_to(HeldBytes& held) const {
  for (const PoolShare& share : tree_.pools) {
    if (share.pool) held[share.pool] = static_cast<long long>(share.pool->size());
  }
  for (std::size_t k = 0; k < schedules_.size(); ++k) {
    const Schedule now = known(k);
    for (const auto& schedule : {now.whole, now.earlier}) {
      if (!schedule) continue;
      held[schedule->places] = schedule->places->bytes();
      held[schedule->references] =
          static_cast<long long>(schedule->references->size() * sizeof(NodeReference));
    }
    for (const auto& batch : now.changes) {
      held[batch] = static_cast<long long>(batch->size() * sizeof(LeafChange));
    }
  }
}

}  // namespace heddle::detail
