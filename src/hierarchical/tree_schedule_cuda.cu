#include "tree_schedule_cuda.hpp"

#include <algorithm>
#include <bit>
#include <utility>

#include "base/device_value.hpp"
#include "base/launch_cuda.cuh"
#include "base/returned_memory_cuda.hpp"
#include "base/sort_cuda.hpp"
#include "base/temporary_memory_cuda.hpp"
#include "base/unset_array.hpp"
#include "heddle/error.hpp"
#include "hierarchical/pools/piece_cutter.hpp"
#include "hierarchical/pools/place_bits.cuh"

namespace heddle::cuda {

namespace {

/// Nodes of a level in the order of a walk.
struct WalkedNodes {
  explicit WalkedNodes(Offset nodes, const Device& device)
      : node(static_cast<std::size_t>(nodes), device),
        row(static_cast<std::size_t>(nodes), device),
        column(static_cast<std::size_t>(nodes), device) {}

  UnsetArray<NodeReference> node;
  UnsetArray<Index> row, column;  // in blocks
};

/// Same, as kernels read them.
struct Walk {
  NodeReference* node;
  Index* row;
  Index* column;
  const unsigned long long* pools;

  Walk(WalkedNodes& nodes, const Array<unsigned long long>& pools)
      : node(nodes.node.data()),
        row(nodes.row.data()),
        column(nodes.column.data()),
        pools(pools.data()) {}
  __device__ NodeView view(Offset i, const NodeShape& shape) const {
    const unsigned long long address =
        pools[node[i].pool()] + static_cast<unsigned long long>(node[i].byte());
    return {reinterpret_cast<const unsigned char*>(address), node[i].kind(), shape};
  }
};

__global__ void __launch_bounds__(block_size)
    list_children(Walk nodes, NodeShape shape, const Offset* first, Walk children) {
  __shared__ PlaceWorkspace workspace;
  const Offset i = blockIdx.x;
  const NodeView inner = nodes.view(i, shape);
  for_each_entry(inner, workspace, [&](int number, LocalPlace place, int payload) {
    const Offset to = first[i] + number;
    children.node[to] = reinterpret_cast<const NodeReference*>(inner.payloads())[payload];
    children.row[to] = nodes.row[i] << shape.log2_size | place.row;
    children.column[to] = nodes.column[i] << shape.log2_size | place.column;
  });
}

/// The children of some nodes, in the order of their parents.
WalkedNodes children_of(WalkedNodes& nodes, const NodeShape& shape,
                        const Array<unsigned long long>& pools, const Device& device) {
  const auto count = static_cast<Offset>(nodes.node.size());
  UnsetArray<Offset> first(nodes.node.size() + 1, device);
  const Walk walk(nodes, pools);
  for_each_index(device.stream(), count, [walk, shape, first = first.data()] __device__(Offset i) {
    first[i] = walk.view(i, shape).count();
  });
  exclusive_sum(first.data(), count + 1, device);
  WalkedNodes children(read_value(first.data() + count, device), device);
  const OnGpu here(device.stream());
  launch_kernel(list_children, static_cast<unsigned>(count), block_size, false, device.stream(),
                walk, shape, static_cast<const Offset*>(first.data()), Walk(children, pools));
  wait_before_memory_goes_back(device);
  return children;
}

WalkedNodes leaves_of(const heddle::detail::Tree& tree, const Array<unsigned long long>& pools,
                      const Device& device) {
  WalkedNodes nodes(tree.entries > 0 ? 1 : 0, device);
  if (tree.entries == 0) return nodes;
  heddle::detail::copy_bytes(nodes.node.data(), &tree.root, sizeof tree.root, device.stream());
  heddle::detail::fill_bytes(nodes.row.data(), 0, sizeof(Index), device.stream());
  heddle::detail::fill_bytes(nodes.column.data(), 0, sizeof(Index), device.stream());
  for (int level = heddle::detail::levels_of(tree.rows, tree.columns, tree.leaf.log2_size) - 1;
       level > 0; --level) {
    nodes = children_of(nodes, tree.shape(level), pools, device);
  }
  return nodes;
}

/// Where the leaves of each block of y begin among sorted keys.
void find_blocks(const unsigned long long* key, Offset leaves, int bits_of_x, Array<Offset>& first,
                 const Stream& stream) {
  for_each_index(stream, static_cast<Offset>(first.size()),
                 [=, first = first.data()] __device__(Offset block) {
                   const auto wanted = static_cast<unsigned long long>(block) << bits_of_x;
                   Offset begin = 0, end = leaves;
                   while (begin < end) {
                     const Offset middle = (begin + end) / 2;
                     if (key[middle] < wanted) {
                       begin = middle + 1;
                     } else {
                       end = middle;
                     }
                   }
                   first[block] = begin;
                 });
}

/// Cuts the leaves into pieces: counts those of each block of y, and then writes them.
void cut_pieces(TreeSchedule& schedule, const NodeShape& leaf, int run, int entries,
                const Device& device, const Device& work) {
  const Stream& stream = device.stream();
  const auto blocks = static_cast<Offset>(schedule.first.size()) - 1;
  UnsetArray<Taken> taken(static_cast<std::size_t>(blocks), work);
  const auto sums = static_cast<std::size_t>(blocks) + 1;
  UnsetArray<Offset> pieces(sums, work), places(sums, work), counters(sums, work);
  const auto* const leaves = schedule.cut.leaves.data();
  for_each_index(stream, blocks,
                 [=, first = schedule.first.data(), taken = taken.data(), pieces = pieces.data(),
                  places = places.data(), counters = counters.data()] __device__(Offset block) {
                   const PieceCutter cutter(leaves, first, leaf, run, entries);
                   const Taken own = cutter.taken_by(static_cast<Index>(block));
                   taken[block] = own;
                   pieces[block] = own.pieces;
                   places[block] = own.places;
                   counters[block] = own.counters;
                 });
  for (UnsetArray<Offset>* const sum : {&pieces, &places, &counters}) {
    exclusive_sum(sum->data(), blocks + 1, work);
  }
  // There is one wait for all three.
  UnsetArray<Taken> all(1, work);
  for_each_index(stream, 1,
                 [blocks, all = all.data(), pieces = pieces.data(), places = places.data(),
                  counters = counters.data()] __device__(Offset) {
                   *all = {static_cast<int>(pieces[blocks]), static_cast<int>(places[blocks]),
                           static_cast<int>(counters[blocks])};
                 });
  const Taken found = read_value(all.data(), device);
  schedule.cut.places = found.places;
  schedule.cut.counters = found.counters;
  schedule.cut.pieces =
      Array<heddle::device::TreePiece>(static_cast<std::size_t>(found.pieces), device);
  for_each_index(
      stream, blocks,
      [=, first = schedule.first.data(), taken = taken.data(), pieces = pieces.data(),
       places = places.data(), counters = counters.data(), all_places = schedule.cut.places,
       to = schedule.cut.pieces.data()] __device__(Offset block) {
        const PieceCutter cutter(leaves, first, leaf, run, entries);
        const Taken before{static_cast<int>(pieces[block]), static_cast<int>(places[block]),
                           static_cast<int>(counters[block])};
        cutter.write(static_cast<Index>(block), before, taken[block], all_places, to);
      });
}

}  // namespace

TreeSchedule schedule_on_gpu(const heddle::detail::Tree& tree,
                             std::span<const unsigned long long> addresses, bool by_columns,
                             const Device& device) {
  const Stream& stream = device.stream();
  const TemporaryMemory space(device);
  const Device& work = space.device();
  const Array<unsigned long long> pools(addresses, work);
  WalkedNodes nodes = leaves_of(tree, pools, work);
  const auto count = static_cast<Offset>(nodes.node.size());
  const NodeShape shape = tree.leaf;
  const auto blocks =
      static_cast<std::size_t>(shape.blocks_of(by_columns ? tree.columns : tree.rows));
  const auto bits_of = [&](Index size) {
    return static_cast<int>(std::bit_width(static_cast<unsigned>(shape.blocks_of(size))));
  };
  const int bits_of_x = bits_of(by_columns ? tree.rows : tree.columns);
  const int bits_of_y = bits_of(by_columns ? tree.columns : tree.rows);
  SortBuffers buffers(nodes.node.size(), work);
  for_each_index(
      stream, count,
      [=, row = nodes.row.data(), column = nodes.column.data(), key = buffers.key[0].data(),
       value = buffers.value[0].data()] __device__(Offset i) {
        const auto y = static_cast<unsigned long long>(by_columns ? column[i] : row[i]);
        const auto x = static_cast<unsigned long long>(by_columns ? row[i] : column[i]);
        key[i] = y << bits_of_x | x;
        value[i] = static_cast<Index>(i);
      });
  sort_by_key(buffers, count, bits_of_x + bits_of_y, work);
  const unsigned long long* const key = buffers.key[buffers.current].data();
  const Index* const order = buffers.value[buffers.current].data();

  TreeSchedule schedule;
  schedule.first = Array<Offset>(blocks + 1, device);
  find_blocks(key, count, bits_of_x, schedule.first, stream);
  schedule.cut.leaves = Array<heddle::device::TreeLeaf>(nodes.node.size(), device);
  UnsetArray<Offset> runs(nodes.node.size() + 1, work);
  const int run = run_of(tree);
  const Walk walk(nodes, pools);
  for_each_index(stream, count, [=, runs = runs.data()] __device__(Offset i) {
    const NodeView leaf = walk.view(order[i], shape);
    runs[i] = leaf.kind == NodeKind::dense ? 0 : runs_of_entries(leaf.count(), run);
  });
  exclusive_sum(runs.data(), count + 1, work);
  for_each_index(stream, count,
                 [=, runs = runs.data(), first = schedule.first.data(),
                  leaves = schedule.cut.leaves.data()] __device__(Offset i) {
                   const auto y = static_cast<Index>(key[i] >> bits_of_x);
                   const auto x = static_cast<Index>(key[i] & ((1ULL << bits_of_x) - 1));
                   const auto sparse = static_cast<unsigned>(runs[i] - runs[first[y]]);
                   leaves[i] = scheduled_leaf(walk.view(order[i], shape), x, sparse, run);
                 });
  cut_pieces(schedule, shape, run, entries_of_piece(tree), device, work);
  return schedule;
}

}  // namespace heddle::cuda
