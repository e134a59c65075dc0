// Edits are carried out level by level: edits of entries make new leaves, and each new leaf is an
// edit of its parent.
#include "heddle/detail/trees/tree_edit.hpp"

#include <algorithm>
#include <atomic>
#include <string>
#include <utility>

#include "heddle/tools/team.hpp"
#include "hierarchical/pools/walk_order.hpp"
#include "pool_merging.hpp"

namespace heddle::detail {

namespace {

/// An edit of a node of some level: an entry or a child is set, added to, or removed.
struct Change {
  Index row;
  Index column;
  EditAction action;
  std::size_t edit;     // its value; for leaves
  NodeReference child;  // for inner nodes
};

/// A node that changes touch: `changes[first, end)` of its level.
struct TouchedNode {
  std::size_t first;
  std::size_t end;
  std::optional<NodeReference> before;
  int held = 0;     // entries afterwards
  Offset byte = 0;  // in the new pool
};

struct TouchedLevel {
  NodeShape shape;
  std::vector<Change> changes;
  std::vector<TouchedNode> nodes;
};

std::string in_words(const PlacedEdit& edit) {
  return "row " + std::to_string(edit.row) + ", column " + std::to_string(edit.column);
}

std::vector<Change> sorted_changes(const Tree& tree, std::span<const PlacedEdit> edits) {
  for (std::size_t i = 0; i < edits.size(); ++i) {
    const PlacedEdit& edit = edits[i];
    if (edit.row >= 0 && edit.row < tree.rows && edit.column >= 0 && edit.column < tree.columns) {
      continue;
    }
    throw Error(ErrorKind::out_of_range, "edit " + std::to_string(i) + " names " + in_words(edit) +
                                             " of a matrix of " + std::to_string(tree.rows) +
                                             " x " + std::to_string(tree.columns) +
                                             " entries, counted from 0");
  }
  std::vector<std::pair<unsigned long long, std::size_t>> order(edits.size());
  for (std::size_t i = 0; i < edits.size(); ++i) {
    order[i] = {place_in_walk(edits[i].row, edits[i].column, tree.leaf.log2_size), i};
  }
  std::sort(order.begin(), order.end());
  std::vector<Change> changes;
  changes.reserve(edits.size());
  for (const auto& [key, i] : order) {
    const PlacedEdit& edit = edits[i];
    if (!changes.empty() && changes.back().row == edit.row &&
        changes.back().column == edit.column) {
      throw Error(ErrorKind::usage, "edits " + std::to_string(changes.back().edit) + " and " +
                                        std::to_string(i) + " of one batch both name " +
                                        in_words(edit));
    }
    changes.push_back({edit.row, edit.column, edit.action, i, {}});
  }
  return changes;
}

/// Calls `body(place, payload of the old node or -1, change or null)` for everything in the old
/// node or in its changes, by rows. `old` may be null.
template <class Body>
void for_each_merged(const NodeView* old, std::span<const Change> changes, const NodeShape& shape,
                     const Body& body) {
  std::size_t next = 0;
  const auto place_of = [&](const Change& change) {
    return shape.place_of(change.row, change.column);
  };
  const auto take_until = [&](int position) {
    for (; next < changes.size() && shape.position_of(place_of(changes[next])) < position; ++next) {
      body(place_of(changes[next]), -1, &changes[next]);
    }
  };
  if (old != nullptr) {
    old->for_each([&](LocalPlace place, int payload) {
      const int position = shape.position_of(place);
      take_until(position);
      const bool changes_it =
          next < changes.size() && shape.position_of(place_of(changes[next])) == position;
      body(place, payload, changes_it ? &changes[next++] : nullptr);
    });
  }
  take_until(static_cast<int>(shape.positions()));
}

/// Finds the nodes that the changes touch, and how many entries they hold afterwards.
void count_entries(const Tree& tree, int level, TouchedLevel& touched, int team) {
  const std::vector<Change>& changes = touched.changes;
  const NodeShape& shape = touched.shape;
  const auto is_of_one_node = [&](const Change& a, const Change& b) {
    return shape.block_of(a.row) == shape.block_of(b.row) &&
           shape.block_of(a.column) == shape.block_of(b.column);
  };
  for (std::size_t i = 0; i < changes.size(); ++i) {
    if (i > 0 && is_of_one_node(changes[i - 1], changes[i])) {
      ++touched.nodes.back().end;
    } else {
      touched.nodes.push_back({i, i + 1, {}});
    }
  }
  std::atomic<std::size_t> first_missing = changes.size();
  parallel_for(team, touched.nodes.size(), [&](std::size_t n) {
    TouchedNode& node = touched.nodes[n];
    const Change& some = changes[node.first];
    node.before = find_node(tree, level, shape.block_of(some.row), shape.block_of(some.column));
    const NodeView old = node.before ? tree.node(*node.before, level) : NodeView{};
    node.held = node.before ? old.count() : 0;
    for (std::size_t i = node.first; i < node.end; ++i) {
      const Change& change = changes[i];
      const bool is_there = node.before && old.find(shape.place_of(change.row, change.column)) >= 0;
      const bool goes = change.action == EditAction::remove;
      if (goes && !is_there) lower(first_missing, change.edit);
      node.held += (goes ? 0 : 1) - (is_there ? 1 : 0);
    }
  });
  if (first_missing == changes.size()) return;
  const auto missing = std::find_if(changes.begin(), changes.end(), [&](const Change& change) {
    return change.edit == first_missing;
  });
  refuse_missing(missing->edit, {missing->row, missing->column, missing->action});
}

/// Gives the nodes their bytes in a pool of the result, which counts what comes and goes. Returns
/// the changes in the level above.
TouchedLevel changes_above(TouchedLevel& touched, int level, std::size_t pool, Tree& result) {
  TouchedLevel next{result.shape(level + 1), {}, {}};
  NodeCounts& counts = level == 0 ? result.memory.leaves : result.memory.inner;
  long long& end = result.pools[pool].used;
  for (TouchedNode& node : touched.nodes) {
    if (node.before) {
      const int held = result.node(*node.before, level).count();
      counts.count(touched.shape, held, -1);
      result.pools[static_cast<std::size_t>(node.before->pool())].used -= touched.shape.bytes(held);
    }
    const Change& some = touched.changes[node.first];
    Change change{touched.shape.block_of(some.row),
                  touched.shape.block_of(some.column),
                  EditAction::remove,
                  0,
                  {}};
    if (node.held > 0) {
      node.byte = end;
      end += touched.shape.bytes(node.held);
      counts.count(touched.shape, node.held);
      change.action = EditAction::set;
      change.child =
          NodeReference::make(touched.shape.kind_of(node.held), static_cast<int>(pool), node.byte);
    } else if (!node.before) {
      continue;
    }
    next.changes.push_back(change);
  }
  return next;
}

/// Calls `run(first, last)` for the entries [first, last) of a sparse node between changes, and
/// `body(place, payload or -1, change)` for each change.
template <class Run, class Body>
void for_each_run(const NodeView& old, std::span<const Change> changes, const Run& run,
                  const Body& body) {
  const LocalPlace* const places = old.places();
  const int count = old.count();
  int at = 0;
  for (const Change& change : changes) {
    const LocalPlace place = old.shape.place_of(change.row, change.column);
    const int position = old.shape.position_of(place);
    const int next =
        static_cast<int>(std::partition_point(places + at, places + count,
                                              [&](LocalPlace other) {
                                                return old.shape.position_of(other) < position;
                                              }) -
                         places);
    run(at, next);
    const bool is_there = next < count && old.shape.position_of(places[next]) == position;
    body(place, is_there ? next : -1, &change);
    at = next + (is_there ? 1 : 0);
  }
  run(at, count);
}

void write_nodes(const Tree& tree, int level, const TouchedLevel& touched, std::byte* pool,
                 const std::byte* values, AddEntries add, int team) {
  const auto bytes = static_cast<std::size_t>(touched.shape.payload_bytes);
  parallel_for(team, touched.nodes.size(), [&](std::size_t n) {
    const TouchedNode& node = touched.nodes[n];
    if (node.held == 0) return;
    NodeWriter writer(pool + node.byte, touched.shape, node.held);
    const NodeView old = node.before ? tree.node(*node.before, level) : NodeView{};
    const std::byte* const payloads = node.before
                                          ? reinterpret_cast<const std::byte*>(old.payloads())
                                          : values;  // or none to read
    const auto write = [&](LocalPlace place, int payload, const Change* change) {
      if (change != nullptr && change->action == EditAction::remove) return;
      std::byte* const to = writer.next(place);
      if (change == nullptr) {
        std::memcpy(to, payloads + static_cast<std::size_t>(payload) * bytes, bytes);
      } else if (level > 0) {
        std::memcpy(to, &change->child, bytes);
      } else if (change->action == EditAction::add && payload >= 0) {
        add(payloads + static_cast<std::size_t>(payload) * bytes, values + change->edit * bytes,
            to);
      } else {
        std::memcpy(to, values + change->edit * bytes, bytes);
      }
    };
    const auto changes = std::span(touched.changes).subspan(node.first, node.end - node.first);
    if (node.before && old.kind != NodeKind::dense && writer.is_sparse()) {
      for_each_run(
          old, changes, [&](int first, int last) { writer.copy(old, first, last); }, write);
    } else {
      for_each_merged(node.before ? &old : nullptr, changes, touched.shape, write);
    }
  });
}

std::shared_ptr<const LeafChanges> changes_of_leaves(const TouchedLevel& above) {
  auto changes = std::make_shared<LeafChanges>();
  changes->reserve(above.changes.size());
  for (const Change& change : above.changes) {
    changes->push_back({change.row, change.column, change.action == EditAction::set, change.child});
  }
  return changes;
}

}  // namespace

EditedTree edited(const Tree& tree, std::span<const PlacedEdit> edits, const std::byte* values,
                  AddEntries add, bool asks_for_changes, const Device& device) {
  if (edits.empty()) return {tree, std::make_shared<LeafChanges>()};
  const int levels = levels_of(tree.rows, tree.columns, tree.leaf.log2_size);
  const int team = team_size(device.stream(), static_cast<long long>(edits.size()) * 64);
  Tree result = tree;
  const std::size_t pool = result.pools.size();
  result.pools.emplace_back();
  std::vector<TouchedLevel> touched;
  touched.push_back({tree.leaf, sorted_changes(tree, edits), {}});
  for (int level = 0; level < levels; ++level) {
    count_entries(tree, level, touched.back(), team);
    touched.push_back(changes_above(touched.back(), level, pool, result));
  }
  const auto bytes =
      std::make_shared<Pool>(static_cast<std::size_t>(result.pools[pool].used), device);
  for (int level = 0; level < levels; ++level) {
    write_nodes(tree, level, touched[static_cast<std::size_t>(level)], bytes->data(), values, add,
                team);
  }
  result.entries = result.memory.leaves.items;
  const std::vector<Change>& of_root = touched.back().changes;
  if (!of_root.empty()) result.root = of_root.front().child;
  result.pools[pool].pool = bytes;
  for (PoolShare& share : result.pools) {
    if (share.used == 0) share.pool = nullptr;
  }
  EditedTree after{std::move(result), asks_for_changes ? changes_of_leaves(touched[1]) : nullptr};
  merge_if_memory_is_there(after.tree, [&] { merge_pools(after, device); });
  return after;
}

std::vector<PlacedEdit> transposed_edits(const Tree& tree, std::span<const PlacedEdit> edits) {
  Tree transpose;
  transpose.rows = tree.columns;
  transpose.columns = tree.rows;
  transpose.leaf = tree.leaf;
  check_edits(transpose, edits);
  std::vector<PlacedEdit> exchanged;
  exchanged.reserve(edits.size());
  for (const auto& [row, column, action] : edits) {
    const auto leaf = action == EditAction::remove
                          ? find_node(tree, 0, tree.leaf.block_of(column), tree.leaf.block_of(row))
                          : std::nullopt;
    if (action == EditAction::remove &&
        (!leaf || tree.node(*leaf, 0).find(tree.leaf.place_of(column, row)) < 0)) {
      refuse_missing(exchanged.size(), {row, column, action});
    }
    exchanged.push_back({column, row, action});
  }
  return exchanged;
}

void check_edits(const Tree& tree, std::span<const PlacedEdit> edits) {
  static_cast<void>(sorted_changes(tree, edits));
}

void refuse_missing(std::size_t number, const PlacedEdit& edit) {
  throw Error(ErrorKind::out_of_range, "edit " + std::to_string(number) + " removes " +
                                           in_words(edit) + ", where there is no entry");
}

}  // namespace heddle::detail
