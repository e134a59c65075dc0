// How a kernel of blocks of threads side by side counts the levels above leaves, and gives nodes
// their places in a pool.
#pragma once

#include "inner_levels_cuda.hpp"
#include "place_bits.cuh"
#include "side_by_side_cuda.cuh"

namespace heddle::cuda {

/// Where the children of a level are.
struct Children {
  const Index* row;
  const Index* column;
  Offset count;
};

/// Calls `body(i)` for all i < count, shared out among all threads.
template <class Body>
__device__ void for_all(Offset count, const Body& body) {
  const Offset threads = Offset(gridDim.x) * block_size;
  for (Offset i = Offset(blockIdx.x) * block_size + threadIdx.x; i < count; i += threads) body(i);
}

__device__ inline void mark_blocks(const NodesAbove& level, int shift, const Children& of) {
  for_all(of.count, [&](Offset i) {
    const Index row = of.row[i] >> shift, column = of.column[i] >> shift;
    // The child before it marks their block.
    if (i > 0 && of.row[i - 1] >> shift == row && of.column[i - 1] >> shift == column) return;
    unsigned long long* const word = level.blocks.bits + level.blocks.word_of(row, column);
    const unsigned long long bit = BlockBits::bit_of(column);
    if ((*word & bit) == 0) atomicOr(word, bit);
  });
  wait_for_all();
}

/// Numbers the blocks that are marked, and returns how many there are.
__device__ inline Offset number_blocks(const NodesAbove& level, Offset* of_block) {
  const Share own = share_of_block(level.blocks.words());
  Offset ones = 0;
  for (Offset word = own.begin + threadIdx.x; word < own.end; word += block_size) {
    ones += ones_of(level.blocks.bits[word]);
  }
  ones = sums_of_block(ones).all;
  if (threadIdx.x == 0) of_block[blockIdx.x] = ones;
  wait_for_all();
  auto [before, all] = sums_of_all_blocks(of_block);
  for (Offset base = own.begin; base < own.end; base += block_size) {
    const Offset word = base + threadIdx.x;
    const Sums sums = sums_of_block(word < own.end ? ones_of(level.blocks.bits[word]) : 0);
    if (word < own.end) {
      level.before[word] = before + sums.before;
      level.blocks.for_each_of(word, [&](Offset node, Index row, Index column) {
        level.row[node] = row;
        level.column[node] = column;
      });
    }
    before += sums.all;
  }
  wait_for_all();
  return all;
}

__device__ inline Offset node_of(const NodesAbove& level, int shift, const Children& of, Offset i) {
  return level.blocks.number_of(of.row[i] >> shift, of.column[i] >> shift);
}

/// Nodes by what they hold.
struct NodesToPlace {
  Offset count;
  NodeShape shape;
  const int* held;
  Offset* first;  // what nodes before hold; null where nobody asks
  Offset* byte;
};
struct PlacedNodes {
  Offset held, end;
};

/// Gives the nodes their places from byte `begin` on, and adds to the counts of their kinds.
__device__ inline PlacedNodes place_nodes(const NodesToPlace& of, Offset begin, Offset* of_block,
                                          int* of_kind) {
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
  Offset* const held_of_block = of_block + gridDim.x;
  Offset* const bytes_of_block = held_of_block + gridDim.x;
  if (threadIdx.x == 0) {
    held_of_block[blockIdx.x] = held;
    bytes_of_block[blockIdx.x] = bytes;
  }
  wait_for_all();
  const Sums all_held = sums_of_all_blocks(held_of_block);
  const Sums all_bytes = sums_of_all_blocks(bytes_of_block);
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
  wait_for_all();
  return {all_held.all, begin + all_bytes.all};
}

/// Counts all levels above some leaves. Their first node lies at byte `begin`.
__device__ inline void count_levels(const LevelsAbove& of, Children children, Offset begin) {
  const int shift = of.shape.log2_size;
  Offset end = begin;
  for (int k = 0; k < of.levels; ++k) {
    const NodesAbove& level = of.level[k];
    mark_blocks(level, shift, children);
    const Offset nodes = number_blocks(level, of.of_block);
    for_all(children.count, [&](Offset i) {
      const Offset node = node_of(level, shift, children, i);
      take_number(level.held + node, static_cast<unsigned>(node));
    });
    wait_for_all();
    end = place_nodes({nodes, of.shape, level.held, level.first, level.byte}, end, of.of_block,
                      of.counted->of_kind)
              .end;
    for_all(children.count, [&](Offset i) {
      const Offset node = node_of(level, shift, children, i);
      const Offset to =
          level.first[node] + take_number(level.taken + node, static_cast<unsigned>(node));
      level.position[to] = static_cast<unsigned short>(
          of.shape.position_of(of.shape.place_of(children.row[i], children.column[i])));
      level.child[to] = static_cast<unsigned>(i);
    });
    if (blockIdx.x == 0 && threadIdx.x == 0) {
      of.counted->nodes[k] = nodes;
      of.counted->items += children.count;
      of.counted->bytes = end - begin;
      of.counted->held_by_root = level.held[0];
    }
    children = {level.row, level.column, nodes};
  }
}

}  // namespace heddle::cuda
