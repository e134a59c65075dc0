#include "heddle/detail/trees/tree.hpp"

#include <algorithm>
#include <limits>
#include <string>
#include <utility>

#include "base/text/readable.hpp"
#include "block_rows.hpp"
#include "heddle/detail/trees/leaf_schedule.hpp"
#include "hierarchical/pools/pool_blocks.hpp"

namespace heddle::detail {

long long Tree::bytes_on_host() const {
  long long bytes = 0;
  for (const PoolShare& share : pools) {
    if (share.pool && share.pool->is_on_host()) bytes += static_cast<long long>(share.pool->size());
  }
  return bytes;
}

long long Tree::held_bytes() const {
  long long bytes = 0;
  for (const PoolShare& share : pools) {
    if (share.pool) bytes += static_cast<long long>(share.pool->size());
  }
  return bytes;
}

int levels_of(Index rows, Index columns, int log2_size) {
  int levels = 1;
  for (Index last = std::max(std::max(rows, columns) - 1, 0) >> log2_size; last > 0;
       last >>= log2_size) {
    ++levels;
  }
  return levels;
}

NodeShape leaf_shape(const NodeLayout& nodes, int entry_bytes) {
  check_launch(nodes.launch);
  if (nodes.dense < NodeLayout::by_bytes || nodes.dense > NodeLayout::never) {
    throw Error(ErrorKind::usage,
                "leaves of hierarchical storage are dense from 1 to 100 percent of their places, "
                "not " +
                    std::to_string(nodes.dense));
  }
  for (int log2_size = 2; log2_size <= 8; ++log2_size) {
    if (nodes.size != 1 << log2_size) continue;
    NodeShape leaf{log2_size, entry_bytes};
    if (nodes.dense != NodeLayout::by_bytes) {
      const auto places = static_cast<int>(leaf.positions());
      leaf.dense_from = std::max(3, (places * nodes.dense + 99) / 100);
    }
    return leaf;
  }
  throw Error(ErrorKind::usage,
              "nodes of hierarchical storage have 4, 8, 16, 32, 64, 128 or 256 "
              "rows and columns, not " +
                  std::to_string(nodes.size));
}

std::optional<NodeReference> find_node(const Tree& tree, int level, Index block_row,
                                       Index block_column) {
  if (tree.entries == 0) return std::nullopt;
  NodeReference at = tree.root;
  const int log2_size = tree.leaf.log2_size;
  for (int above = levels_of(tree.rows, tree.columns, log2_size) - 1; above > level; --above) {
    const int shift = log2_size * (above - level - 1);
    const NodeView inner = tree.node(at, above);
    const int payload = inner.find(tree.leaf.place_of(block_row >> shift, block_column >> shift));
    if (payload < 0) return std::nullopt;
    at = child_at(inner, payload);
  }
  return at;
}

NodeLevel group_into_nodes(const PatternView& pattern, int log2_size, const Device& device) {
  const NodeShape shape{log2_size};
  NodeLevel level;
  level.rows = static_cast<Index>(shape.blocks_of(pattern.rows));
  level.columns = static_cast<Index>(shape.blocks_of(pattern.columns));
  level.offsets = Array<Offset>(static_cast<std::size_t>(level.rows) + 1, device);
  const int team = team_size(device.stream(), pattern.entries() + pattern.rows);
  std::vector<BlockColumns::Counts> counted(static_cast<std::size_t>(level.rows));
  parallel_shares(team, level.rows, 0, [&](auto&& for_each) {
    BlockColumns seen(level.columns);
    for_each([&](Index row) {
      auto& counts = counted[static_cast<std::size_t>(row)];
      counts = seen.counts(pattern, log2_size, row);
      level.offsets[static_cast<std::size_t>(row) + 1] = static_cast<Offset>(counts.size());
    });
  });
  for (std::size_t row = 1; row < level.offsets.size(); ++row) {
    level.offsets[row] += level.offsets[row - 1];
  }
  const auto nodes = static_cast<std::size_t>(level.pattern().entries());
  level.column = Array<Index>(nodes, device);
  level.held = Array<int>(nodes, device);
  parallel_for(team, level.rows, [&](Index row) {
    auto node = static_cast<std::size_t>(level.offsets[static_cast<std::size_t>(row)]);
    for (const auto& [column, held] : counted[static_cast<std::size_t>(row)]) {
      level.column[node] = column;
      level.held[node++] = held;
    }
  });
  return level;
}

HierarchicalMemory count_nodes(std::vector<NodeLevel>& levels, const NodeShape& leaf,
                               const Device& device) {
  HierarchicalMemory memory;
  Offset end = 0;
  for (NodeLevel& level : levels) {
    const bool of_leaves = &level == &levels.front();
    const NodeShape shape =
        of_leaves ? leaf : NodeShape{leaf.log2_size, int{sizeof(NodeReference)}};
    NodeCounts& counts = of_leaves ? memory.leaves : memory.inner;
    level.byte = Array<Offset>(level.held.size(), device);
    for (std::size_t node = 0; node < level.held.size(); ++node) {
      level.byte[node] = end;
      end += shape.bytes(level.held[node]);
      counts.count(shape, level.held[node]);
    }
  }
  return memory;
}

void check_tree_memory(const HierarchicalMemory& needed, long long available) {
  if (needed.total() <= available && needed.tree() < NodeReference::max_bytes) return;
  throw Error(ErrorKind::memory, "hierarchical storage: " + to_string(needed) +
                                     " exceed the available " + readable_bytes(available));
}

namespace {

/// Memory for a pool of `bytes`. The memory that freed pools have left makes room for the next
/// pool, and for nothing else.
long long available_for_pool(long long bytes, const Device& device) {
  const long long available = device.available_memory();
  if (device.on_gpu() || device.memory() != default_memory()) return available;
  const auto kept = static_cast<long long>(PoolBlocks::of_process().kept_bytes());
  return available + std::min({kept, bytes, std::numeric_limits<long long>::max() - available});
}

}  // namespace

TreeBuilder::TreeBuilder(Index rows, Index columns, const NodeShape& leaf, NodeLevel leaves,
                         const Device& device, const std::optional<long long>& limit)
    : device_(device) {
  tree_.rows = rows;
  tree_.columns = columns;
  tree_.leaf = leaf;
  levels_.push_back(std::move(leaves));
  const int levels = levels_of(rows, columns, leaf.log2_size);
  while (static_cast<int>(levels_.size()) < levels) {
    levels_.push_back(group_into_nodes(levels_.back().pattern(), leaf.log2_size, device));
  }
  tree_.memory = count_nodes(levels_, leaf, device);
  tree_.entries = tree_.memory.leaves.items;
  const long long bytes = tree_.memory.tree();
  HierarchicalMemory needed = tree_.memory;
  needed.schedule = LeafSchedule::bytes(levels_.front().rows, levels_.front().columns,
                                        static_cast<Offset>(needed.leaves.nodes()));
  check_tree_memory(needed, limit.value_or(available_for_pool(bytes, device)));
  pool_ = std::make_shared<Pool>(static_cast<std::size_t>(bytes), device);
}

Tree TreeBuilder::finish() {
  for (std::size_t above = 1; above < levels_.size(); ++above) {
    const NodeLevel& children = levels_[above - 1];
    const NodeLevel& level = levels_[above];
    const NodeShape of_child = tree_.shape(static_cast<int>(above) - 1);
    const NodeShape shape = tree_.shape(static_cast<int>(above));
    for_each_entry_by_nodes(
        children.pattern(), level, shape, device_.stream(),
        [&](Offset node) {
          return NodeWriter(bytes_of(static_cast<int>(above), node), shape,
                            level.held[static_cast<std::size_t>(node)]);
        },
        [&](Offset i, std::byte* to) {
          const auto child = static_cast<std::size_t>(i);
          const NodeReference reference =
              NodeReference::make(of_child.kind_of(children.held[child]), 0, children.byte[child]);
          std::memcpy(to, &reference, sizeof reference);
        });
  }
  if (tree_.entries > 0) {
    const NodeLevel& top = levels_.back();
    const NodeShape shape = tree_.shape(static_cast<int>(levels_.size()) - 1);
    tree_.root = NodeReference::make(shape.kind_of(top.held[0]), 0, top.byte[0]);
  }
  if (tree_.entries > 0) tree_.pools = {{std::move(pool_), tree_.memory.tree()}};
  return std::move(tree_);
}

Tree tree_of(const PatternView& pattern, const NodeShape& leaf, const std::byte* values,
             const Device& device, const std::optional<long long>& limit) {
  TreeBuilder builder(pattern.rows, pattern.columns, leaf,
                      group_into_nodes(pattern, leaf.log2_size, device), device, limit);
  const auto write_leaves = [&](const auto& write) {
    for_each_entry_by_nodes(
        pattern, builder.leaves(), leaf, device.stream(),
        [&](Offset node) { return builder.writer(node); }, write);
  };
  // Copies of a size that the compiler knows compile to no calls.
  const auto write_entries_of = [&]<int bytes>() {
    write_leaves([values](Offset i, std::byte* to) { std::memcpy(to, values + i * bytes, bytes); });
  };
  switch (leaf.payload_bytes) {
    case 4:
      write_entries_of.template operator()<4>();
      break;
    case 8:
      write_entries_of.template operator()<8>();
      break;
    case 16:
      write_entries_of.template operator()<16>();
      break;
    case 32:
      write_entries_of.template operator()<32>();
      break;
    default:
      write_leaves([&](Offset i, std::byte* to) {
        std::memcpy(to, values + i * leaf.payload_bytes,
                    static_cast<std::size_t>(leaf.payload_bytes));
      });
  }
  return builder.finish();
}

}  // namespace heddle::detail
