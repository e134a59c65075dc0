#include <cstddef>
#include <memory>
#include <span>
#include <utility>

#include "base/device_value.hpp"
#include "base/sort_cuda.hpp"
#include "base/unset_array.hpp"
#include "hierarchical/pools/place_bits.cuh"
#include "moved_pools_cuda.hpp"
#include "pool_merging.hpp"

namespace heddle::cuda {

namespace {

using heddle::detail::Tree;

/// Nodes of a level that move, and the children of those above leaves.
struct MovedLevel {
  MovedLevel(const NodeShape& of, Offset nodes, const Device& device)
      : shape(of), node(static_cast<std::size_t>(nodes), device), byte(node.size() + 1, device) {}

  Offset nodes() const { return static_cast<Offset>(node.size()); }

  NodeShape shape;
  UnsetArray<NodeReference> node;
  UnsetArray<Offset> byte;  // after `begin`; one more for the end
  Offset begin = 0;         // where the level begins in the new pool
  UnsetArray<Offset> first;
  UnsetArray<NodeReference> child;
  UnsetArray<Offset> moves;  // earlier children that move; one more for the end
};

__device__ NodeView view(const unsigned long long* pools, NodeReference at,
                         const NodeShape& shape) {
  const unsigned long long address = pools[at.pool()] + static_cast<unsigned long long>(at.byte());
  return {reinterpret_cast<const unsigned char*>(address), at.kind(), shape};
}

__global__ void __launch_bounds__(block_size)
    list_references(const unsigned long long* pools, const NodeReference* nodes, NodeShape shape,
                    const Offset* first, NodeReference* child) {
  __shared__ PlaceWorkspace workspace;
  const Offset i = blockIdx.x;
  const NodeView inner = view(pools, nodes[i], shape);
  for_each_entry(inner, workspace, [&](int number, LocalPlace, int payload) {
    child[first[i] + number] = reinterpret_cast<const NodeReference*>(inner.payloads())[payload];
  });
}

/// The new references of the children of moved nodes.
struct MovedChildren {
  const Offset* first;
  const NodeReference* child;
  const Offset* moves;
  const Offset* byte;  // for those that move
  Offset begin;
  int pool;
};

/// Copies nodes, a block of threads each; references of inner nodes follow their children.
__global__ void __launch_bounds__(block_size)
    copy_nodes(const unsigned long long* pools, const NodeReference* nodes, NodeShape shape,
               const Offset* byte, unsigned char* pool, MovedChildren children) {
  __shared__ PlaceWorkspace workspace;
  const Offset i = blockIdx.x;
  const NodeView node = view(pools, nodes[i], shape);
  unsigned char* const to = pool + byte[i];
  const Offset words = node.bytes() / Offset{sizeof(uint4)};
  for (Offset word = threadIdx.x; word < words; word += block_size) {
    reinterpret_cast<uint4*>(to)[word] = reinterpret_cast<const uint4*>(node.data)[word];
  }
  if (children.first == nullptr) return;
  __syncthreads();
  auto* const references = reinterpret_cast<NodeReference*>(to + (node.payloads() - node.data));
  for_each_entry(node, workspace, [&](int number, LocalPlace, int payload) {
    const Offset c = children.first[i] + number;
    const Offset moved = children.moves[c];
    if (children.moves[c + 1] == moved) return;
    references[payload] = NodeReference::make(children.child[c].kind(), children.pool,
                                              children.begin + children.byte[moved]);
  });
}

void find_bytes(MovedLevel& level, const unsigned long long* pools, const Device& device) {
  for_each_index(
      device.stream(), level.nodes(),
      [pools, shape = level.shape, node = level.node.data(), byte = level.byte.data()] __device__(
          Offset i) { byte[i] = view(pools, node[i], shape).bytes(); });
  exclusive_sum(level.byte.data(), level.nodes() + 1, device);
}

/// The children, in pools from `first_pool` on, of nodes that move: they move too. All nodes above
/// a node lie in those pools with it.
MovedLevel level_below(MovedLevel& level, const NodeShape& shape, int first_pool,
                       const unsigned long long* pools, const Device& device) {
  const Stream& stream = device.stream();
  const Offset nodes = level.nodes();
  level.first = UnsetArray<Offset>(level.node.size() + 1, device);
  for_each_index(
      stream, nodes,
      [pools, of = level.shape, node = level.node.data(), first = level.first.data()] __device__(
          Offset i) { first[i] = view(pools, node[i], of).count(); });
  exclusive_sum(level.first.data(), nodes + 1, device);
  const Offset children = read_value(level.first.data() + nodes, device);
  level.child = UnsetArray<NodeReference>(static_cast<std::size_t>(children), device);
  level.moves = UnsetArray<Offset>(level.child.size() + 1, device);
  if (nodes > 0) {
    const OnGpu here(stream);
    launch_kernel(list_references, static_cast<unsigned>(nodes), block_size, false, stream, pools,
                  level.node.data(), level.shape, level.first.data(), level.child.data());
  }
  for_each_index(stream, children,
                 [first_pool, child = level.child.data(), moves = level.moves.data()] __device__(
                     Offset c) { moves[c] = child[c].pool() >= first_pool ? 1 : 0; });
  exclusive_sum(level.moves.data(), children + 1, device);
  MovedLevel below(shape, read_value(level.moves.data() + children, device), device);
  for_each_index(stream, children,
                 [child = level.child.data(), moves = level.moves.data(),
                  node = below.node.data()] __device__(Offset c) {
                   if (moves[c + 1] > moves[c]) node[moves[c]] = child[c];
                 });
  find_bytes(below, pools, device);
  return below;
}

/// Moves all nodes of the pools from `first` on into one.
void move_pools_from(std::size_t first, Tree& tree, std::vector<unsigned long long>& addresses,
                     const Device& device) {
  const Array<unsigned long long> pools(std::span<const unsigned long long>(addresses), device);
  const int levels = heddle::detail::levels_of(tree.rows, tree.columns, tree.leaf.log2_size);
  std::vector<MovedLevel> moved;  // from the root on
  moved.emplace_back(tree.shape(levels - 1), 1, device);
  heddle::detail::copy_bytes(moved.front().node.data(), &tree.root, sizeof tree.root,
                             device.stream());
  find_bytes(moved.front(), pools.data(), device);
  Offset bytes = read_value(moved.front().byte.data() + 1, device);
  for (int level = levels - 2; level >= 0; --level) {
    MovedLevel below =
        level_below(moved.back(), tree.shape(level), static_cast<int>(first), pools.data(), device);
    below.begin = bytes;
    bytes += read_value(below.byte.data() + below.nodes(), device);
    moved.push_back(std::move(below));
  }
  auto pool = std::make_shared<Array<std::byte>>(static_cast<std::size_t>(bytes), device);
  for (std::size_t k = 0; k < moved.size(); ++k) {
    const MovedLevel& level = moved[k];
    if (level.nodes() == 0) continue;
    MovedChildren children{};
    if (k + 1 < moved.size()) {
      const MovedLevel& below = moved[k + 1];
      children = {level.first.data(), level.child.data(), level.moves.data(),
                  below.byte.data(),  below.begin,        static_cast<int>(first)};
    }
    const OnGpu here(device.stream());
    launch_kernel(copy_nodes, static_cast<unsigned>(level.nodes()), block_size, false,
                  device.stream(), pools.data(), level.node.data(), level.shape, level.byte.data(),
                  reinterpret_cast<unsigned char*>(pool->data()) + level.begin, children);
  }
  device.synchronize();  // before memory is given back
  std::vector<heddle::detail::PoolShare> shares(
      tree.pools.begin(), tree.pools.begin() + static_cast<std::ptrdiff_t>(first));
  addresses.resize(first);
  addresses.push_back(reinterpret_cast<unsigned long long>(pool->data()));
  shares.push_back({std::make_shared<heddle::detail::Pool>(std::move(pool)), bytes});
  tree.pools = std::move(shares);
  tree.root = NodeReference::make(tree.root.kind(), static_cast<int>(first), 0);
}

}  // namespace

void merge_pools_on_gpu(Tree& tree, std::vector<unsigned long long>& addresses, const Device& gpu) {
  if (tree.entries == 0) {
    tree.pools.clear();
    addresses.clear();
    return;
  }
  const std::size_t first = heddle::detail::first_pool_to_merge(tree);
  if (first < tree.pools.size()) move_pools_from(first, tree, addresses, gpu);
  if (heddle::detail::holds_too_much(tree)) move_pools_from(0, tree, addresses, gpu);
}

}  // namespace heddle::cuda
