// One kernel finds and counts the nodes that edits touch, level by level: its blocks of threads run
// side by side, and wait for one another between the steps of a level.
#include "touched_levels_cuda.cuh"

#include <cstring>

#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "hierarchical/pools/side_by_side_cuda.cuh"

namespace heddle::cuda {

namespace {

using heddle::detail::EditAction;
using heddle::detail::PlacedEdit;
using heddle::detail::Tree;

static_assert(sizeof(CountedLevels) % sizeof(unsigned long long) == 0);

struct LevelsToCount {
  TreeView tree;
  TouchedNodes level[max_levels];
  Offset edits;
  int pool;
  Offset* of_block;  // two sums for each block of threads
  CountedLevels* counted;
  unsigned long long* freed_of_pool;
};

/// Numbers the nodes that changes touch, and looks for them in the tree. Returns their number.
__device__ Offset find_nodes(const LevelsToCount& of, const TouchedNodes& level, Offset changes) {
  const Share own = share_of_block(changes);
  const auto node_of = [&](Offset change) {
    return heddle::detail::node_in_walk(level.key[change], level.shape.log2_size);
  };
  const auto begins = [&](Offset change) {
    return change < own.end && (change == 0 || node_of(change - 1) != node_of(change));
  };
  Offset found = 0;
  for (Offset change = own.begin + threadIdx.x; change < own.end; change += block_size) {
    found += begins(change) ? 1 : 0;
  }
  found = sums_of_block(found).all;
  if (threadIdx.x == 0) of.of_block[blockIdx.x] = found;
  wait_for_all();
  auto [before, all] = sums_of_all_blocks(of.of_block);
  for (Offset base = own.begin; base < own.end; base += block_size) {
    const Offset change = base + threadIdx.x;
    const bool is_first = begins(change);
    const Sums sums = sums_of_block(is_first ? 1 : 0);
    const Offset node = before + sums.before - (is_first ? 0 : 1);
    before += sums.all;
    if (change >= own.end) continue;
    level.number[change] = static_cast<Index>(node);
    if (!is_first) continue;
    level.first[node] = static_cast<Index>(change);
    const NodeReference old = of.tree.find(node_of(change), level.level);
    level.before[node] = old;
    level.held[node] = old.bits == no_node.bits ? 0 : of.tree.view(old, level.level).count();
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) level.first[all] = static_cast<Index>(changes);
  wait_for_all();
  return all;
}

/// Counts the entries that the nodes hold afterwards.
__device__ void count_entries(const LevelsToCount& of, const TouchedNodes& level, Offset changes) {
  const Offset threads = Offset(gridDim.x) * block_size;
  for (Offset change = Offset(blockIdx.x) * block_size + threadIdx.x; change < changes;
       change += threads) {
    const Index node = level.number[change];
    const NodeReference old = level.before[node];
    const int position =
        heddle::detail::position_in_node(level.key[change], level.level, level.shape.log2_size);
    const bool is_there = old.bits != no_node.bits &&
                          of.tree.view(old, level.level).find(level.shape.place_at(position)) >= 0;
    const bool goes = level.action[change] == EditAction::remove;
    if (goes && !is_there && level.level == 0) {
      atomicMax(&of.counted->faults.missing,
                ~static_cast<unsigned long long>(level.source[change]));
    }
    const int more = (goes ? 0 : 1) - (is_there ? 1 : 0);
    if (more != 0) atomicAdd(level.held + node, more);
  }
  wait_for_all();
}

__device__ Offset bytes_of(const TouchedNodes& level, Offset node) {
  return level.held[node] > 0 ? level.shape.bytes(level.held[node]) : 0;
}

/// Adds the bytes of nodes to their pool, mostly the same one for all threads of a block.
__device__ void free_bytes(unsigned long long* freed_of_pool, int pool, Offset bytes) {
  __shared__ int any_pool;
  if (threadIdx.x == 0) any_pool = -1;
  __syncthreads();
  if (pool >= 0) any_pool = pool;  // one of them
  __syncthreads();
  const bool is_alone = __syncthreads_and(pool < 0 || pool == any_pool ? 1 : 0) != 0;
  if (is_alone) bytes = sums_of_block(bytes).all;
  if (is_alone ? threadIdx.x == 0 && any_pool >= 0 : pool >= 0) {
    atomicAdd(freed_of_pool + (is_alone ? any_pool : pool), static_cast<unsigned long long>(bytes));
  }
}

/// Adds up what the nodes hold. Returns the bytes of this block's nodes.
__device__ Offset count_nodes(const LevelsToCount& of, const TouchedNodes& level,
                              const Share& own) {
  if (own.begin >= own.end) return 0;
  int more[node_kinds] = {};
  Offset more_items = 0, bytes_before = 0, bytes = 0, freed = 0;
  int pool = -1;
  for (Offset node = own.begin + threadIdx.x; node < own.end; node += block_size) {
    const int held = level.held[node];
    const auto kind = held > 0 ? static_cast<int>(level.shape.kind_of(held)) : -1;
    const NodeReference at = level.before[node];
    const bool has_old = at.bits != no_node.bits;
    const auto kind_before = has_old ? static_cast<int>(at.kind()) : -1;
#pragma unroll
    for (int k = 0; k < node_kinds; ++k)
      more[k] += (k == kind ? 1 : 0) - (k == kind_before ? 1 : 0);
    bytes += bytes_of(level, node);
    more_items += held;
    if (!has_old) continue;
    const NodeView old = of.tree.view(at, level.level);
    more_items -= old.count();
    bytes_before += old.bytes();
    if (pool >= 0 && pool != at.pool()) {
      atomicAdd(of.freed_of_pool + pool, static_cast<unsigned long long>(freed));
      freed = 0;
    }
    pool = at.pool();
    freed += old.bytes();
  }
  free_bytes(of.freed_of_pool, pool, freed);
  CountedNodes& counted = of.counted->level[level.level];
  // Modulo 2^64, which represents negative numbers too.
  const auto add = [](long long* to, Offset sum) {
    if (threadIdx.x == 0 && sum != 0) {
      atomicAdd(reinterpret_cast<unsigned long long*>(to), static_cast<unsigned long long>(sum));
    }
  };
#pragma unroll
  for (int k = 0; k < node_kinds; ++k) {
    const auto sum = static_cast<int>(sums_of_block(more[k]).all);
    if (threadIdx.x == 0 && sum != 0) atomicAdd(&counted.more[k], sum);
  }
  add(&counted.more_items, sums_of_block(more_items).all);
  add(&counted.bytes_before, sums_of_block(bytes_before).all);
  return sums_of_block(bytes).all;
}

/// Gives the nodes their places after `begin`, and makes them changes of the level above. Returns
/// the bytes of all nodes.
__device__ Offset place_nodes(const LevelsToCount& of, const TouchedNodes& level, Offset nodes,
                              Offset begin) {
  const Share own = share_of_block(nodes);
  const Offset bytes = count_nodes(of, level, own);
  Offset* const of_block = of.of_block + gridDim.x;
  if (threadIdx.x == 0) of_block[blockIdx.x] = bytes;
  wait_for_all();
  const Sums blocks = sums_of_all_blocks(of_block);
  const bool is_root = level.level == of.tree.levels - 1;
  const TouchedNodes& above = of.level[is_root ? level.level : level.level + 1];
  Offset before = begin + blocks.before;
  for (Offset base = own.begin; base < own.end; base += block_size) {
    const Offset node = base + threadIdx.x;
    const Sums sums = sums_of_block(node < own.end ? bytes_of(level, node) : 0);
    const Offset byte = before + sums.before;
    before += sums.all;
    if (node >= own.end) continue;
    const int held = level.held[node];
    const auto after = NodeReference::make(level.shape.kind_of(held), of.pool, byte);
    level.byte[node] = byte;
    level.after[node] = after;
    if (is_root) {
      of.counted->root = after;
      continue;
    }
    above.key[node] =
        heddle::detail::node_in_walk(level.key[level.first[node]], level.shape.log2_size);
    above.action[node] = held > 0 ? EditAction::set : EditAction::remove;
    above.source[node] = static_cast<Index>(node);
  }
  if (blockIdx.x == 0 && threadIdx.x == 0) {
    CountedNodes& counted = of.counted->level[level.level];
    counted.nodes = nodes;
    counted.bytes_after = blocks.all;
  }
  wait_for_all();
  return blocks.all;
}

__global__ void __launch_bounds__(block_size, blocks_of_multiprocessor)
    count_levels(const __grid_constant__ LevelsToCount of) {
  Offset changes = of.edits, end = 0;
  for (int k = 0; k < of.tree.levels; ++k) {
    const TouchedNodes& level = of.level[k];
    const Offset nodes = find_nodes(of, level, changes);
    count_entries(of, level, changes);
    end += place_nodes(of, level, nodes, end);
    changes = nodes;
  }
}

/// The most nodes that a level can have.
Offset max_nodes(const Tree& tree, int level) {
  const auto blocks = [&](Index size) {
    const int shift = tree.leaf.log2_size * (level + 1);
    return ((Offset(size) - 1) >> shift) + 1;
  };
  return std::max<Offset>(1, blocks(tree.rows) * blocks(tree.columns));
}

/// Keys that sort edits into the order of a walk.
void find_keys(const UnsetArray<PlacedEdit>& edits, const Tree& tree, SortBuffers& to,
               EditFaults* faults, const Stream& stream) {
  for_each_index(
      stream, static_cast<Offset>(edits.size()),
      [rows = tree.rows, columns = tree.columns, log2_size = tree.leaf.log2_size,
       edits = edits.data(), faults, key = to.key[0].data(),
       value = to.value[0].data()] __device__(Offset i) {
        const PlacedEdit edit = edits[i];
        const bool is_inside =
            edit.row >= 0 && edit.row < rows && edit.column >= 0 && edit.column < columns;
        if (!is_inside) faults->malformed = 1;
        key[i] = is_inside ? heddle::detail::place_in_walk(edit.row, edit.column, log2_size) : 0;
        value[i] = static_cast<Index>(i);
      });
}

void find_actions(const UnsetArray<PlacedEdit>& edits, const TouchedNodes& leaves,
                  EditFaults* faults, const Stream& stream) {
  for_each_index(stream, static_cast<Offset>(edits.size()),
                 [edits = edits.data(), faults, key = leaves.key, source = leaves.source,
                  action = leaves.action] __device__(Offset i) {
                   if (i > 0 && key[i - 1] == key[i]) faults->malformed = 1;
                   action[i] = edits[source[i]].action;
                 });
}

}  // namespace

TouchedLevels::TouchedLevels(const Tree& tree, int levels, const UnsetArray<PlacedEdit>& edits,
                             const Device& device)
    : device_(device),
      edits_(static_cast<Offset>(edits.size())),
      sorted_(edits.size(), device),
      counted_(sizeof(CountedLevels) / sizeof(unsigned long long) + tree.pools.size(), device) {
  EditFaults* const faults = &reinterpret_cast<CountedLevels*>(counted_.data())->faults;
  find_keys(edits, tree, sorted_, faults, device.stream());
  sort_by_key(sorted_, edits_, std::min(62, 2 * tree.leaf.log2_size * levels), device);
  Offset changes = edits_;
  for (int level = 0; level < levels; ++level) {
    const Offset nodes = std::min(changes, max_nodes(tree, level));
    const auto of_changes = static_cast<std::size_t>(changes);
    const auto of_nodes = static_cast<std::size_t>(nodes);
    LevelStorage& storage = storage_.emplace_back();
    if (level > 0) {
      storage.key = UnsetArray<unsigned long long>(of_changes, device);
      storage.source = UnsetArray<Index>(of_changes, device);
    }
    storage.action = UnsetArray<EditAction>(of_changes, device);
    storage.number = UnsetArray<Index>(of_changes, device);
    storage.first = UnsetArray<Index>(of_nodes + 1, device);
    storage.before = UnsetArray<NodeReference>(of_nodes, device);
    storage.after = UnsetArray<NodeReference>(of_nodes, device);
    storage.held = UnsetArray<int>(of_nodes, device);
    storage.byte = UnsetArray<Offset>(of_nodes, device);
    nodes_.push_back({tree.shape(level), level,
                      level > 0 ? storage.key.data() : sorted_.key[sorted_.current].data(),
                      storage.action.data(),
                      level > 0 ? storage.source.data() : sorted_.value[sorted_.current].data(),
                      storage.number.data(), storage.first.data(), storage.before.data(),
                      storage.after.data(), storage.held.data(), storage.byte.data()});
    changes = nodes;
  }
  find_actions(edits, nodes_.front(), faults, device.stream());
}

std::pair<CountedLevels, std::vector<unsigned long long>> TouchedLevels::count(const TreeView& tree,
                                                                               int pool,
                                                                               std::size_t pools) {
  const Stream& stream = device_.stream();
  const unsigned blocks = blocks_side_by_side(edits_, stream);
  UnsetArray<Offset> of_block(2 * std::size_t(blocks), device_);
  LevelsToCount of{};
  of.tree = tree;
  std::ranges::copy(nodes_, of.level);
  of.edits = edits_;
  of.pool = pool;
  of.of_block = of_block.data();
  of.counted = reinterpret_cast<CountedLevels*>(counted_.data());
  of.freed_of_pool = counted_.data() + (counted_.size() - pools);
  launch_side_by_side(count_levels, blocks, stream, of);
  const std::vector<unsigned long long> words = counted_.to_host();
  CountedLevels counted{};
  std::memcpy(static_cast<void*>(&counted), words.data(), sizeof counted);
  return {counted, {words.end() - static_cast<std::ptrdiff_t>(pools), words.end()}};
}

}  // namespace heddle::cuda
