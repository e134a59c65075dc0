// The product of hierarchical storage by a walk over its tree, scheduled on the GPU itself (Derler
// et al. 2017, section 4 and algorithm 1). Nodes wait in queues by kind and size. A warp takes from
// any of them, puts children into others, and adds the products of leaves to y atomically. In place
// of the paper's controller, which starts a kernel whenever a queue is long enough, warps stay
// until all leaves are done.
#pragma once

#include "heddle/kernels/trees/tree_queue_arguments.hpp"
#include "heddle/kernels/trees/tree_sums.cuh"

namespace heddle::device {

template <class Plan>
using WalkArguments = TreeWalkArguments<typename Plan::scalar, typename OfTree<Plan>::T>;

__device__ __forceinline__ unsigned* head_of(unsigned* counters, int queue) {
  return counters + queue * counter_stride;
}
__device__ __forceinline__ unsigned* tail_of(unsigned* counters, int queue) {
  return counters + (node_queues + queue) * counter_stride;
}
__device__ __forceinline__ unsigned* done_of(unsigned* counters) {
  return counters + 2 * node_queues * counter_stride;
}
template <class T>
__device__ __forceinline__ T read_now(const T* from) {
  return *static_cast<const volatile T*>(from);
}

/// The queued form of the node that its parent refers to as `at`.
__device__ __forceinline__ unsigned long long queued_node(NodeReference at, int level,
                                                          const unsigned long long* pools) {
  return (__ldg(pools + at.pool()) + static_cast<unsigned long long>(at.byte())) |
         static_cast<unsigned long long>(at.kind()) | static_cast<unsigned long long>(level) << 56;
}
__device__ __forceinline__ unsigned long long address_of(unsigned long long queued) {
  return queued & 0x00ff'ffff'ffff'fff0ULL;
}
__device__ __forceinline__ int level_of(unsigned long long queued) {
  return static_cast<int>(queued >> 56);
}
__device__ __forceinline__ NodeKind kind_of(unsigned long long queued) {
  return static_cast<NodeKind>(queued & 3);
}
__device__ __forceinline__ unsigned count_of(unsigned long long queued) {
  return __ldg(reinterpret_cast<const unsigned*>(address_of(queued)));
}

__device__ __forceinline__ int queue_for(unsigned long long queued) {
  if (level_of(queued) > 0) return queue_of_inner;
  switch (kind_of(queued)) {
    case NodeKind::dense:
      return queue_of_many;
    case NodeKind::coo1:
      return queue_of_single;
    default:
      return count_of(queued) <= few_entries_of_leaf ? queue_of_few : queue_of_many;
  }
}

/// Sets y = beta y, and puts the root into its queue.
template <class Plan>
__device__ __forceinline__ void begin_tree_walk(const WalkArguments<Plan>& a) {
  using M = typename Plan::scalar;
  const Offset step = Offset(gridDim.x) * blockDim.x;
  for (Offset i = Offset(blockIdx.x) * blockDim.x + threadIdx.x; i < a.scalars_of_y; i += step) {
    a.y[i] = a.beta == 0 ? M(0) : static_cast<M>(a.beta * a.y[i]);
  }
  if (blockIdx.x != 0 || a.leaves == 0) return;
  for (int i = static_cast<int>(threadIdx.x); i < queue_counters; i += blockDim.x) {
    a.counters[i] = 0;
  }
  __syncthreads();
  if (threadIdx.x != 0) return;
  const unsigned long long root = queued_node(a.root, a.level_of_root, a.pools);
  const int queue = queue_for(root);
  a.queues[queue][0] = {root, 0, 0};
  *tail_of(a.counters, queue) = 1;
}

/// Takes a node out of its queue; its parent may still be writing it.
__device__ __forceinline__ QueuedNode take_node(QueuedNode* at) {
  unsigned long long node = 0;
  while ((node = read_now(&at->node)) == 0) {
  }
  __threadfence();
  const QueuedNode taken{node, read_now(&at->row), read_now(&at->column)};
  *static_cast<volatile unsigned long long*>(&at->node) = 0;
  return taken;
}

/// Lanes that have a node, `node.node` other than 0, put it into its queue, those of one queue side
/// by side.
__device__ __forceinline__ void put_nodes(const QueuedNode& node, QueuedNode* const* queues,
                                          unsigned* counters) {
  const unsigned lane = threadIdx.x % 32;
  const int own = node.node != 0 ? queue_for(node.node) : -1;
#pragma unroll
  for (int queue = 0; queue < node_queues; ++queue) {
    const unsigned mask = __ballot_sync(all_lanes, own == queue);
    if (mask == 0) continue;
    unsigned first = 0;
    if (lane == 0) first = atomicAdd(tail_of(counters, queue), __popc(mask));
    first = __shfl_sync(all_lanes, first, 0);
    if (own != queue) continue;
    QueuedNode* const to = queues[queue] + first + __popc(mask & ((1u << lane) - 1));
    *static_cast<volatile Index*>(&to->row) = node.row;
    *static_cast<volatile Index*>(&to->column) = node.column;
    __threadfence();
    *static_cast<volatile unsigned long long*>(&to->node) = node.node;
  }
  __syncwarp();
}

/// Row and column of entry i of a sparse node, or of position i of a dense one; false if the node
/// has no entry there.
__device__ __forceinline__ bool place_in(const NodeShape& shape, unsigned long long node, int i,
                                         LocalPlace& place) {
  const auto* const places = reinterpret_cast<const unsigned char*>(
      address_of(node) + NodeShape::places_byte(kind_of(node)));
  if (kind_of(node) == NodeKind::dense) {
    place = shape.place_at(i);
    return (__ldg(places + i / 8) >> (i % 8) & 1) != 0;
  }
  const unsigned pair = __ldg(reinterpret_cast<const unsigned short*>(places) + i);
  place = {static_cast<unsigned char>(pair & 255), static_cast<unsigned char>(pair >> 8)};
  return true;
}
__device__ __forceinline__ int slots_of(const NodeShape& shape, unsigned long long node) {
  return kind_of(node) == NodeKind::dense ? static_cast<int>(shape.positions())
                                          : static_cast<int>(count_of(node));
}
__device__ __forceinline__ unsigned long long payloads_of(const NodeShape& shape,
                                                          unsigned long long node) {
  return address_of(node) + shape.payload_byte(kind_of(node), count_of(node));
}

/// A warp puts the children of an inner node into their queues.
template <class Plan>
__device__ __forceinline__ void expand(const WalkArguments<Plan>& a, QueuedNode* at) {
  constexpr NodeShape shape{Plan::log2_size, int(sizeof(NodeReference))};
  const int lane = static_cast<int>(threadIdx.x % 32);
  QueuedNode inner{};
  if (lane == 0) inner = take_node(at);
  inner.node = __shfl_sync(all_lanes, inner.node, 0);
  inner.row = __shfl_sync(all_lanes, inner.row, 0);
  inner.column = __shfl_sync(all_lanes, inner.column, 0);
  const int slots = slots_of(shape, inner.node);
  const auto* const children =
      reinterpret_cast<const unsigned long long*>(payloads_of(shape, inner.node));
  for (int first = 0; first < slots; first += 32) {
    const int i = first + lane;
    LocalPlace place{};
    QueuedNode child{};
    if (i < slots && place_in(shape, inner.node, i, place)) {
      child.node = queued_node({__ldg(children + i)}, level_of(inner.node) - 1, a.pools);
      child.row = (inner.row << Plan::log2_size) | place.row;
      child.column = (inner.column << Plan::log2_size) | place.column;
    }
    put_nodes(child, a.queues, a.counters);
  }
}

/// y += alpha times the product of a leaf, by `lanes` lanes.
template <class Plan, int lanes>
__device__ __forceinline__ void add_leaf(const WalkArguments<Plan>& a, const QueuedNode& leaf) {
  using Of = OfTree<Plan>;
  using E = typename Plan::entry;
  using R = typename Of::R;
  constexpr NodeShape shape = Of::shape();
  const int slots = slots_of(shape, leaf.node);
  const auto* const payloads =
      reinterpret_cast<const stored_scalar_t<E>*>(payloads_of(shape, leaf.node));
  for (int i = static_cast<int>(threadIdx.x % lanes); i < slots; i += lanes) {
    LocalPlace place{};
    if (!place_in(shape, leaf.node, i, place)) continue;
    const Index row = (leaf.row << Plan::log2_size) | place.row;
    const Index column = (leaf.column << Plan::log2_size) | place.column;
    E entry;
    load_scalars<load_default, E::components, 8>(entry.component, payloads + i * E::components);
    R part = zero_vector<R>();
    multiply_add(
        part, detail::as_applied<Plan::form>(load(entry)),
        load_row<Plan, load_default, typename Of::V>(a.x, 0, Of::is_transposed ? row : column));
    auto* const to = a.y + Offset(Of::is_transposed ? column : row) * R::components;
#pragma unroll
    for (int k = 0; k < R::components; ++k) {
      atomicAdd(to + k, static_cast<typename Plan::scalar>(a.alpha * part.component[k]));
    }
  }
}

/// Adds the leaves [begin, end) of a queue, which are 32 / `lanes` at most.
template <class Plan, int lanes>
__device__ __forceinline__ void add_leaves(const WalkArguments<Plan>& a, QueuedNode* queue,
                                           unsigned begin, unsigned end) {
  const unsigned own = begin + threadIdx.x % 32 / lanes;
  QueuedNode leaf{};
  if (own < end && threadIdx.x % lanes == 0) leaf = take_node(queue + own);
  const int from = static_cast<int>(threadIdx.x % 32 / lanes * lanes);
  leaf.node = __shfl_sync(all_lanes, leaf.node, from);
  leaf.row = __shfl_sync(all_lanes, leaf.row, from);
  leaf.column = __shfl_sync(all_lanes, leaf.column, from);
  if (leaf.node != 0) add_leaf<Plan, lanes>(a, leaf);
  __syncwarp();
  if (threadIdx.x % 32 == 0) atomicAdd(done_of(a.counters), end - begin);
}

/// The places that a warp has drawn from a queue; their nodes may not be there yet.
struct DrawnNodes {
  unsigned begin = 0;
  unsigned end = 0;

  /// Draws `most` if none is left and the queue is not empty. Returns the end of those that are
  /// there.
  __device__ __forceinline__ unsigned draw(unsigned* counters, int queue, unsigned most) {
    const unsigned lane = threadIdx.x % 32;
    unsigned tail = 0, first = 0;
    bool draws = false;
    if (lane == 0) {
      tail = read_now(tail_of(counters, queue));
      draws = begin == end && read_now(head_of(counters, queue)) < tail;
      if (draws) first = atomicAdd(head_of(counters, queue), most);
    }
    if (__shfl_sync(all_lanes, static_cast<int>(draws), 0) != 0) {
      begin = __shfl_sync(all_lanes, first, 0);
      end = begin + most;
    }
    return min(end, __shfl_sync(all_lanes, tail, 0));
  }
};

template <class Plan>
__device__ __forceinline__ void tree_walk(const WalkArguments<Plan>& a) {
  DrawnNodes drawn[node_queues];
  const auto take = [&](int queue, unsigned most, const auto& body) {
    DrawnNodes& own = drawn[queue];
    const unsigned there = own.draw(a.counters, queue, most);
    if (there <= own.begin) return false;
    body(own.begin, there);
    own.begin = there;
    return true;
  };
  for (;;) {
    bool works = take(queue_of_inner, 1, [&](unsigned at, unsigned) {
      expand<Plan>(a, a.queues[queue_of_inner] + at);
    });
    works |= take(queue_of_many, 1, [&](unsigned begin, unsigned end) {
      add_leaves<Plan, 32>(a, a.queues[queue_of_many], begin, end);
    });
    works |= take(queue_of_few, 4, [&](unsigned begin, unsigned end) {
      add_leaves<Plan, 8>(a, a.queues[queue_of_few], begin, end);
    });
    works |= take(queue_of_single, 32, [&](unsigned begin, unsigned end) {
      add_leaves<Plan, 1>(a, a.queues[queue_of_single], begin, end);
    });
    if (works) continue;
    unsigned done = 0;
    if (threadIdx.x % 32 == 0) done = read_now(done_of(a.counters));
    if (__shfl_sync(all_lanes, done, 0) == a.leaves) return;
    __nanosleep(200);
  }
}

}  // namespace heddle::device
