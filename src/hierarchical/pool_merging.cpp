#include "pool_merging.hpp"

#include <algorithm>
#include <bit>
#include <cstddef>
#include <cstring>
#include <memory>
#include <unordered_map>
#include <utility>
#include <vector>

#include "heddle/tools/team.hpp"

namespace heddle::detail {

namespace {

/// Number of pools of one size, within a factor of the same number, that are merged.
constexpr std::size_t fan_out = 4;
/// Pools of one size make a larger one up to this part of a tree, or `min_part` bytes.
constexpr long long parts_of_tree = 8;
constexpr long long min_part = 1 << 16;

long long part_of(const Tree& tree) {
  return std::max(tree.memory.tree() / parts_of_tree, min_part);
}

/// Nodes of a tree that go to one new pool, which becomes the last one.
class NodeMove {
 public:
  /// `pool`: the number that the new pool will have.
  NodeMove(const Tree& tree, std::size_t pool) : tree_(tree), pool_(static_cast<int>(pool)) {}

  /// Takes all nodes of the pools from `first` on. All nodes above a node lie in those pools with
  /// it.
  void take_pools_from(std::size_t first) {
    if (tree_.entries == 0) return;
    take_newer(tree_.root, top_level(), 0, 0, static_cast<int>(first));
  }
  /// Takes nodes of one pool until these are `budget` bytes, and those above them.
  void take_some_of(std::size_t pool, long long budget) {
    if (tree_.entries == 0) return;
    budget_ = budget;
    take_of_pool(tree_.root, top_level(), 0, 0, static_cast<int>(pool));
  }

  /// Writes the nodes, and gives them to `result`, a copy of the tree.
  void carry_out(Tree& result, const Device& device) const {
    const auto bytes = std::make_shared<Pool>(static_cast<std::size_t>(bytes_), device);
    parallel_for(team_size(device.stream(), bytes_ / 8), nodes_.size(), [&](std::size_t i) {
      const Taken& taken = nodes_[i];
      const NodeView node = tree_.node(taken.node, taken.level);
      std::byte* const to = bytes->data() + taken.byte;
      std::memcpy(to, node.data, static_cast<std::size_t>(node.bytes()));
      if (taken.level == 0) return;
      std::byte* const children = to + (node.payloads() - node.data);
      node.for_each([&](LocalPlace, int payload) {
        const NodeReference child = moved(child_at(node, payload));
        std::memcpy(children + std::size_t{sizeof child} * static_cast<std::size_t>(payload),
                    &child, sizeof child);
      });
    });
    long long used = 0;
    for (const Taken& taken : nodes_) {
      const long long of_all = taken.places * tree_.node(taken.node, taken.level).bytes();
      result.pools[static_cast<std::size_t>(taken.node.pool())].used -= of_all;
      used += of_all;
    }
    result.pools.resize(static_cast<std::size_t>(pool_));
    result.pools.push_back({bytes_ > 0 ? bytes : nullptr, used});
    for (PoolShare& share : result.pools) {
      if (share.used == 0) share.pool = nullptr;
    }
    result.root = moved(tree_.root);
  }

  const LeafChanges& leaves() const { return leaves_; }

 private:
  struct Taken {
    NodeReference node;
    int level;
    Offset byte;    // in the new pool
    Offset places;  // several if the matrix shares the node
  };

  int top_level() const { return levels_of(tree_.rows, tree_.columns, tree_.leaf.log2_size) - 1; }

  /// Where a node lies afterwards.
  NodeReference moved(NodeReference node) const {
    const auto at = now_.find(node.bits);
    return at == now_.end() ? node : reference_of(at->second);
  }
  NodeReference reference_of(std::size_t taken) const {
    return NodeReference::make(nodes_[taken].node.kind(), pool_, nodes_[taken].byte);
  }

  void take(NodeReference at, int level, Index row, Index column) {
    const auto [found, is_new] = now_.emplace(at.bits, nodes_.size());
    if (is_new) {
      nodes_.push_back({at, level, bytes_, 0});
      bytes_ += tree_.node(at, level).bytes();
    }
    ++nodes_[found->second].places;
    if (level == 0) leaves_.push_back({row, column, true, reference_of(found->second)});
  }
  /// Calls `body(child, row, column)` for the nodes below one.
  template <class Body>
  void for_each_child(NodeReference at, int level, Index row, Index column,
                      const Body& body) const {
    const NodeView inner = tree_.node(at, level);
    inner.for_each([&](LocalPlace place, int payload) {
      body(child_at(inner, payload), row << tree_.leaf.log2_size | place.row,
           column << tree_.leaf.log2_size | place.column);
    });
  }
  void take_newer(NodeReference at, int level, Index row, Index column, int first) {
    if (at.pool() < first) return;
    take(at, level, row, column);
    if (level == 0) return;
    for_each_child(at, level, row, column, [&](NodeReference child, Index r, Index c) {
      take_newer(child, level - 1, r, c, first);
    });
  }
  /// True if it took any.
  bool take_of_pool(NodeReference at, int level, Index row, Index column, int pool) {
    // Nodes of a pool lie above nodes of the same pool and of older ones.
    if (at.pool() < pool || budget_ <= 0) return false;
    bool takes = at.pool() == pool;
    if (level > 0) {
      for_each_child(at, level, row, column, [&](NodeReference child, Index r, Index c) {
        takes = take_of_pool(child, level - 1, r, c, pool) || takes;
      });
    }
    if (!takes) return false;
    if (at.pool() == pool) budget_ -= tree_.node(at, level).bytes();
    take(at, level, row, column);
    return true;
  }

  const Tree& tree_;
  int pool_;
  Offset bytes_ = 0;
  long long budget_ = 0;
  std::vector<Taken> nodes_;
  std::unordered_map<unsigned long long, std::size_t> now_;  // in `nodes_`
  LeafChanges leaves_;
};

/// Leaves that have moved are those that the edit made and others.
void add_changes(EditedTree& edited, const LeafChanges& moved, int pool_of_edit) {
  if (edited.changes == nullptr || moved.empty()) return;
  auto changes = std::make_shared<LeafChanges>();
  for (const LeafChange& change : *edited.changes) {
    const bool has_moved = change.stays && change.leaf.pool() >= pool_of_edit;
    if (!has_moved) changes->push_back(change);
  }
  changes->insert(changes->end(), moved.begin(), moved.end());
  edited.changes = std::move(changes);
}

int size_class(long long bytes) {
  return static_cast<int>(std::bit_width(static_cast<unsigned long long>(bytes))) /
         static_cast<int>(std::bit_width(fan_out - 1));
}

/// The first of the last pools that are to be merged; the number of pools if there are none.
std::size_t first_to_merge(const Tree& tree) {
  const std::vector<PoolShare>& pools = tree.pools;
  const long long most = part_of(tree);
  std::size_t first = pools.size();
  long long bytes = pools.back().used;
  // Merged pools may be the last of those that make the next larger one.
  for (std::size_t end = pools.size(); end > 0;) {
    const int largest = size_class(bytes);
    std::size_t begin = end;
    long long sum = end == pools.size() ? 0 : bytes;
    while (begin > 0 && size_class(pools[begin - 1].used) <= largest &&
           sum + pools[begin - 1].used <= most) {
      sum += pools[--begin].used;
    }
    const std::size_t merged = end - begin + (end == pools.size() ? 0 : 1);
    if (merged < fan_out) break;
    first = end = begin;
    bytes = sum;
  }
  return first;
}

long long unused_bytes(const PoolShare& share) {
  return share.pool ? static_cast<long long>(share.pool->size()) - share.used : 0;
}

/// The first of the last pools that hold as many unused bytes as used ones, and at most half of the
/// tree: merging them frees what it writes. The number of pools if there are none.
std::size_t first_to_clean(const Tree& tree) {
  const std::vector<PoolShare>& pools = tree.pools;
  std::size_t first = pools.size();
  long long used = 0, unused = 0;
  for (std::size_t i = pools.size(); i-- > 0;) {
    used += pools[i].used;
    unused += unused_bytes(pools[i]);
    if (used > std::max(tree.memory.tree() / 2, min_part)) break;
    if (unused >= std::max(used, part_of(tree) / 2)) first = i;
  }
  return first;
}

void carry_out(EditedTree& edited, const NodeMove& move, int pool_of_edit, const Device& device) {
  Tree result = edited.tree;
  move.carry_out(result, device);
  add_changes(edited, move.leaves(), pool_of_edit);
  edited.tree = std::move(result);
}

/// The pool with the most unused bytes.
std::size_t emptiest(const Tree& tree) {
  return static_cast<std::size_t>(std::max_element(tree.pools.begin(), tree.pools.end(),
                                                   [&](const PoolShare& a, const PoolShare& b) {
                                                     return unused_bytes(a) < unused_bytes(b);
                                                   }) -
                                  tree.pools.begin());
}

bool holds_more_than(const Tree& tree, long long times, long long more) {
  return tree.held_bytes() > times * tree.memory.tree() + more;
}

}  // namespace

std::size_t first_pool_to_merge(const Tree& tree) {
  return std::min(first_to_merge(tree), first_to_clean(tree));
}

bool holds_too_much(const Tree& tree) { return holds_more_than(tree, 3, min_part); }

void merge_pools(EditedTree& edited, const Device& device) {
  if (edited.tree.entries == 0) {
    edited.tree.pools.clear();
    return;
  }
  const std::size_t first = first_pool_to_merge(edited.tree);
  if (first < edited.tree.pools.size()) {
    NodeMove merge(edited.tree, first);
    merge.take_pools_from(first);
    carry_out(edited, merge, static_cast<int>(first), device);
  }
  // An edit that finds twice the bytes moves a part. If later edits do so too, a pool is empty
  // before the bytes are three times as many.
  if (holds_too_much(edited.tree)) {
    NodeMove all(edited.tree, 0);
    all.take_pools_from(0);
    carry_out(edited, all, 0, device);
  } else if (!edited.tree.shares_nodes && holds_more_than(edited.tree, 2, min_part / 2)) {
    // A part of the places of a shared node cannot move.
    NodeMove some(edited.tree, edited.tree.pools.size());
    some.take_some_of(emptiest(edited.tree), part_of(edited.tree));
    carry_out(edited, some, static_cast<int>(edited.tree.pools.size()), device);
  }
}

}  // namespace heddle::detail
