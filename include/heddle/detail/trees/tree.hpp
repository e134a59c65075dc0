// The tree of hierarchical storage, below the type of its entries: nodes in immutable pools of
// bytes, which trees share. `TreeBuilder` makes one, level by level.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory>
#include <optional>
#include <vector>

#include "heddle/array.hpp"
#include "heddle/csr.hpp"
#include "heddle/detail/trees/pool.hpp"
#include "heddle/export.hpp"
#include "heddle/hierarchical_memory.hpp"
#include "heddle/kernels/trees/tree_node.hpp"

namespace heddle::detail {

/// A pool, and the bytes of it that a tree's own nodes take, a shared one for each of its places;
/// null if they take none.
struct HEDDLE_EXPORT PoolShare {
  std::shared_ptr<const Pool> pool;
  long long used = 0;
};

/// Nodes of level 0 are leaves; the only node of the last level is the root.
struct HEDDLE_EXPORT Tree {
  Index rows = 0;
  Index columns = 0;
  NodeShape leaf;
  TreeLaunch launch;  // for its products on a GPU; edits and sums keep it
  Offset entries = 0;
  NodeReference root;  // if there are entries
  /// Oldest first: the parent of a node lies in its pool or in a newer one.
  std::vector<PoolShare> pools;
  HierarchicalMemory memory;  // its own nodes, including shared ones, but no schedule
  /// True if a node may be at several places (section 1 of the paper). Then `memory` and `used`
  /// count it at each of them, so that edits can count places that come and go.
  bool shares_nodes = false;

  NodeShape shape(int level) const {
    return level == 0 ? leaf : NodeShape{leaf.log2_size, int{sizeof(NodeReference)}};
  }
  NodeView node(NodeReference at, int level) const {
    const std::byte* const begin = pools[static_cast<std::size_t>(at.pool())].pool->data();
    return {reinterpret_cast<const unsigned char*>(begin + at.byte()), at.kind(), shape(level)};
  }
  /// Bytes of the pools, including nodes that only earlier trees use.
  long long held_bytes() const;
  /// Bytes of those pools that the host has.
  long long bytes_on_host() const;
};

/// Number of levels of a matrix with these rows and columns, 1 or more.
int levels_of(Index rows, Index columns, int log2_size);

/// Throws `Error` (usage) for invalid numbers.
void check_launch(const TreeLaunch& launch);

/// The shape of leaves with entries of `entry_bytes`. Throws `Error` (usage) for invalid nodes and
/// launches.
HEDDLE_EXPORT NodeShape leaf_shape(const NodeLayout& nodes, int entry_bytes);

/// The reference that an inner node holds at this place in its payload.
inline NodeReference child_at(const NodeView& inner, int payload) {
  NodeReference child;
  std::memcpy(&child, inner.payloads() + Offset(payload) * Offset{sizeof child}, sizeof child);
  return child;
}

/// The node of a level that covers this block of it; empty if there is none.
std::optional<NodeReference> find_node(const Tree& tree, int level, Index block_row,
                                       Index block_column);

/// Calls `body(block row, block column, leaf)` for each leaf: those of one block row by columns,
/// those of one block column by rows.
template <class Body>
void for_each_leaf(const Tree& tree, NodeReference at, int level, Index row, Index column,
                   const Body& body) {
  if (level == 0) return body(row, column, at);
  const NodeView inner = tree.node(at, level);
  inner.for_each([&](LocalPlace place, int payload) {
    for_each_leaf(tree, child_at(inner, payload), level - 1,
                  (row << tree.leaf.log2_size) | place.row,
                  (column << tree.leaf.log2_size) | place.column, body);
  });
}
template <class Body>
void for_each_leaf(const Tree& tree, const Body& body) {
  if (tree.entries == 0) return;
  const int levels = levels_of(tree.rows, tree.columns, tree.leaf.log2_size);
  for_each_leaf(tree, tree.root, levels - 1, 0, 0, body);
}

/// Writes a node, whose entries come by rows: every byte of it, including those between its parts,
/// so that trees are equal byte by byte.
class NodeWriter {
 public:
  NodeWriter(std::byte* node, const NodeShape& shape, Offset count)
      : shape_(shape), kind_(shape.kind_of(count)) {
    const auto entries = static_cast<unsigned>(count);
    std::memcpy(node, &entries, sizeof entries);
    const Offset places = NodeShape::places_byte(kind_);
    const Offset payloads = shape.payload_byte(kind_, count), end = shape.bytes(kind_, count);
    places_ = node + places;
    payloads_ = node + payloads;
    const auto clear = [&](Offset from, Offset to) {
      std::memset(node + from, 0, static_cast<std::size_t>(to - from));
    };
    constexpr auto after_count = Offset{sizeof entries};
    if (kind_ == NodeKind::dense) {
      clear(after_count, end);
    } else {
      clear(after_count, places);
      clear(places + count * Offset{sizeof(LocalPlace)}, payloads);
      clear(payloads + count * shape.payload_bytes, end);
    }
  }

  /// Where the payload of the next entry belongs.
  std::byte* next(LocalPlace place) {
    Offset index = written_++;
    if (kind_ == NodeKind::dense) {
      index = shape_.position_of(place);
      places_[index / 8] |= std::byte{1} << (index % 8);
    } else {
      std::memcpy(places_ + index * Offset{sizeof place}, &place, sizeof place);
    }
    return payloads_ + index * shape_.payload_bytes;
  }

  bool is_sparse() const { return kind_ != NodeKind::dense; }
  /// Copies the entries [first, last) of a sparse node into a sparse one.
  void copy(const NodeView& from, int first, int last) {
    const auto count = static_cast<std::size_t>(last - first);
    std::memcpy(places_ + written_ * Offset{sizeof(LocalPlace)}, from.places() + first,
                count * sizeof(LocalPlace));
    std::memcpy(payloads_ + written_ * shape_.payload_bytes,
                from.payloads() + Offset(first) * shape_.payload_bytes,
                count * static_cast<std::size_t>(shape_.payload_bytes));
    written_ += last - first;
  }

 private:
  NodeShape shape_;
  NodeKind kind_;
  std::byte* places_;
  std::byte* payloads_;
  Offset written_ = 0;
};

/// The nodes of one level, as a pattern of blocks.
struct HEDDLE_EXPORT NodeLevel {
  Index rows = 0;  // blocks
  Index columns = 0;
  Array<Offset> offsets;
  Array<Index> column;  // ascending in each row
  Array<int> held;      // entries in each node
  Array<Offset> byte;   // place of each node in the pool

  PatternView pattern() const { return {rows, columns, offsets.data(), column.data()}; }
  Offset nodes() const { return static_cast<Offset>(column.size()); }
};

/// Throws `Error` (memory) if a tree and the counted schedules exceed `available`.
void check_tree_memory(const HierarchicalMemory& needed, long long available);

/// The nodes that hold the entries of a pattern, without their bytes.
NodeLevel group_into_nodes(const PatternView& pattern, int log2_size, const Device& device);

/// Makes a tree from leaves that are known by place and number of entries: counts, checks that the
/// memory is there, allocates one pool. The caller fills the leaves, and `finish` the rest.
class HEDDLE_EXPORT TreeBuilder {
 public:
  /// Throws `Error` (memory) if the tree exceeds `limit` bytes, by default what is available.
  TreeBuilder(Index rows, Index columns, const NodeShape& leaf, NodeLevel leaves,
              const Device& device, const std::optional<long long>& limit = {});

  const NodeLevel& leaves() const { return levels_.front(); }
  NodeWriter writer(Offset leaf) {
    return {bytes_of(0, leaf), tree_.leaf, levels_.front().held[static_cast<std::size_t>(leaf)]};
  }

  Tree finish();

 private:
  /// The bytes of a node that is still unwritten.
  std::byte* bytes_of(int level, Offset node) {
    return pool_->data() +
           levels_[static_cast<std::size_t>(level)].byte[static_cast<std::size_t>(node)];
  }

  Tree tree_;
  std::vector<NodeLevel> levels_;
  std::shared_ptr<Pool> pool_;
  Device device_;
};

/// The same tree with each of its nodes once, also if it is at several places: nodes whose bytes
/// are equal become one, leaves first. Throws `Error` (memory).
HEDDLE_EXPORT Tree with_shared_nodes(const Tree& tree, const Device& device);

/// The tree of a pattern in host memory and its values, `leaf.payload_bytes` per entry.
HEDDLE_EXPORT Tree tree_of(const PatternView& pattern, const NodeShape& leaf,
                           const std::byte* values, const Device& device,
                           const std::optional<long long>& limit);

/// The counts of `hierarchical_memory` for known leaves; gives every level its bytes.
HierarchicalMemory count_nodes(std::vector<NodeLevel>& levels, const NodeShape& leaf,
                               const Device& device);

}  // namespace heddle::detail
