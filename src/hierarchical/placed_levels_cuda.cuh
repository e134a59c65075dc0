// How a kernel whose blocks of threads run side by side counts the levels above leaves, and gives
// nodes their places in a pool.
#pragma once

#include "hierarchical/pools/place_bits.cuh"
#include "hierarchical/pools/side_by_side_cuda.cuh"
#include "inner_levels_cuda.hpp"

namespace heddle::cuda {

/// The places of a level's children.
struct Children {
  const Index* row;
  const Index* column;
  Offset count;
};

/// Calls `body(i)` for all i < count, shared among all threads.
template <class Body>
__device__ void for_all(Offset count, const Body& body) {
  const Offset threads = Offset(gridDim.x) * block_size;
  for (Offset i = Offset(blockIdx.x) * block_size + threadIdx.x; i < count; i += threads) body(i);
}

/// Marks the blocks of all levels: each leaf marks those that the leaf before it does not.
__device__ inline void mark_levels(const LevelsAbove& of, const Children& leaves) {
  const int shift = of.shape.log2_size;
  for_all(leaves.count, [&](Offset i) {
    Index row = leaves.row[i], column = leaves.column[i];
    Index row_before = i > 0 ? leaves.row[i - 1] : -1;
    Index column_before = i > 0 ? leaves.column[i - 1] : -1;
    for (int k = 0; k < of.levels; ++k) {
      row >>= shift;
      column >>= shift;
      row_before >>= shift;
      column_before >>= shift;
      if (row == row_before && column == column_before) return;
      const BlockBits& blocks = of.level[k].blocks;
      unsigned long long* const word = blocks.bits + blocks.word_of(row, column);
      const unsigned long long bit = BlockBits::bit_of(column);
      if ((*word & bit) == 0) atomicOr(word, bit);
    }
  });
}

/// The sums of a block of threads are `of_block[gridDim.x k + blockIdx.x]`: for leaves what they
/// hold and their bytes, then the blocks of each level.
inline constexpr int sums_of_leaves = 2;

/// Counts the marked blocks.
__device__ inline void sum_blocks(const LevelsAbove& of) {
  for (int k = 0; k < of.levels; ++k) {
    const BlockBits& blocks = of.level[k].blocks;
    const Share own = share_of_block(blocks.words());
    Offset ones = 0;
    for (Offset word = own.begin + threadIdx.x; word < own.end; word += block_size) {
      ones += bit_count(blocks.bits[word]);
    }
    ones = sums_of_block(ones).all;
    if (threadIdx.x == 0) of.of_block[(sums_of_leaves + k) * gridDim.x + blockIdx.x] = ones;
  }
}
/// Numbers the blocks, which are the nodes; `nodes` gets the number of nodes on each level.
__device__ inline void number_blocks(const LevelsAbove& of, Offset* nodes) {
  for (int k = 0; k < of.levels; ++k) {
    const NodesAbove& level = of.level[k];
    const Share own = share_of_block(level.blocks.words());
    auto [before, all] = sums_of_all_blocks(of.of_block + (sums_of_leaves + k) * gridDim.x);
    for (Offset base = own.begin; base < own.end; base += block_size) {
      const Offset word = base + threadIdx.x;
      const Sums sums = sums_of_block(word < own.end ? bit_count(level.blocks.bits[word]) : 0);
      if (word < own.end) {
        level.before[word] = before + sums.before;
        level.blocks.for_each_of(word, [&](Offset node, Index row, Index column) {
          level.row[node] = row;
          level.column[node] = column;
        });
      }
      before += sums.all;
    }
    if (threadIdx.x == 0) nodes[k] = all;
  }
}

__device__ inline Offset node_of(const NodesAbove& level, int shift, const Children& of, Offset i) {
  return level.blocks.number_of(of.row[i] >> shift, of.column[i] >> shift);
}

/// Nodes, with what they hold.
struct NodesToPlace {
  Offset count;
  NodeShape shape;
  const int* held;
  Offset* first;  // sum over earlier nodes of `held`; null if not needed
  Offset* byte;
};
struct PlacedNodes {
  Offset held, end;
};

/// Sums what the nodes of this block of threads hold, and their bytes, into two of `of_block`. Adds
/// to the counts of their kinds.
__device__ inline void sum_nodes(const NodesToPlace& of, Offset* of_block, int* of_kind) {
  __shared__ int kinds[node_kinds];
  if (threadIdx.x < node_kinds) kinds[threadIdx.x] = 0;
  __syncthreads();
  const Share own = share_of_block(of.count);
  Offset held = 0, bytes = 0;
  int own_kinds[node_kinds] = {};
  for (Offset node = own.begin + threadIdx.x; node < own.end; node += block_size) {
    const int here = of.held[node];
    const NodeKind kind = of.shape.kind_of(here);
    held += here;
    bytes += of.shape.bytes(kind, here);
#pragma unroll
    for (int k = 0; k < node_kinds; ++k) own_kinds[k] += static_cast<int>(kind) == k ? 1 : 0;
  }
#pragma unroll
  for (int k = 0; k < node_kinds; ++k) {
    if (own_kinds[k] > 0) atomicAdd(kinds + k, own_kinds[k]);
  }
  held = sums_of_block(held).all;
  bytes = sums_of_block(bytes).all;
  if (threadIdx.x < node_kinds && kinds[threadIdx.x] > 0) {
    atomicAdd(of_kind + threadIdx.x, kinds[threadIdx.x]);
  }
  if (threadIdx.x == 0) {
    of_block[blockIdx.x] = held;
    of_block[gridDim.x + blockIdx.x] = bytes;
  }
}

/// Gives the nodes, whose sums are known, their places from byte `begin` on.
__device__ inline PlacedNodes place_nodes(const NodesToPlace& of, Offset begin,
                                          const Offset* of_block) {
  const Share own = share_of_block(of.count);
  const Sums all_held = sums_of_all_blocks(of_block);
  const Sums all_bytes = sums_of_all_blocks(of_block + gridDim.x);
  Offset first = all_held.before, byte = begin + all_bytes.before;
  for (Offset base = own.begin; base < own.end; base += block_size) {
    const Offset node = base + threadIdx.x;
    const bool is_there = node < own.end;
    const int here = is_there ? of.held[node] : 0;
    const Sums of_bytes = sums_of_block(is_there ? of.shape.bytes(here) : 0);
    if (is_there) of.byte[node] = byte + of_bytes.before;
    byte += of_bytes.all;
    if (of.first == nullptr) continue;
    const Sums of_held = sums_of_block(here);
    if (is_there) of.first[node] = first + of_held.before;
    first += of_held.all;
  }
  return {all_held.all, begin + all_bytes.all};
}

/// Counts what the numbered nodes of all levels hold, and gives them their places. The first one
/// lies at byte `begin`.
__device__ inline void place_levels(const LevelsAbove& of, const Children& leaves,
                                    const Offset* nodes, Offset begin) {
  const int shift = of.shape.log2_size;
  const auto children_of = [&](int k) {
    return k == 0 ? leaves : Children{of.level[k - 1].row, of.level[k - 1].column, nodes[k - 1]};
  };
  const auto nodes_of = [&](int k) {
    const NodesAbove& level = of.level[k];
    return NodesToPlace{nodes[k], of.shape, level.held, level.first, level.byte};
  };
  for (int k = 0; k < of.levels; ++k) {
    const Children children = children_of(k);
    for_all(children.count, [&](Offset i) {
      const Offset node = node_of(of.level[k], shift, children, i);
      take_number(of.level[k].held + node, static_cast<unsigned>(node));
    });
  }
  wait_for_all();
  for (int k = 0; k < of.levels; ++k) {
    sum_nodes(nodes_of(k), of.of_block + 2 * k * gridDim.x, of.counted->of_kind);
  }
  wait_for_all();
  Offset end = begin, items = 0;
  for (int k = 0; k < of.levels; ++k) {
    end = place_nodes(nodes_of(k), end, of.of_block + 2 * k * gridDim.x).end;
    items += children_of(k).count;
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      of.counted->nodes[k] = nodes[k];
      of.counted->items = items;
      of.counted->bytes = end - begin;
      of.counted->held_by_root = of.level[k].held[0];
    }
  }
  wait_for_all();
  for (int k = 0; k < of.levels; ++k) {
    const NodesAbove& level = of.level[k];
    const Children children = children_of(k);
    for_all(children.count, [&](Offset i) {
      const Offset node = node_of(level, shift, children, i);
      const Offset to =
          level.first[node] + take_number(level.taken + node, static_cast<unsigned>(node));
      level.position[to] = static_cast<unsigned short>(
          of.shape.position_of(of.shape.place_of(children.row[i], children.column[i])));
      level.child[to] = static_cast<unsigned>(i);
    });
  }
}

}  // namespace heddle::cuda
