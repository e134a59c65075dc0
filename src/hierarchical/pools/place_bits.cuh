// Sums and ranks that a block of threads finds together.
#pragma once

#include "base/launch_cuda.cuh"
#include "heddle/kernels/trees/tree_node.hpp"
#include "node_bits.hpp"

namespace heddle::cuda {

/// The memory in which a block of threads numbers the entries of a node.
struct PlaceWorkspace {
  unsigned bits[PlaceBits::max_words];
  unsigned before[PlaceBits::max_words];
  unsigned of_warp[block_size / 32];
};

/// The sum over the threads of a block before this one; all threads take part.
template <class T>
__device__ T sum_before(T value, unsigned thread, T* of_warp) {
  const unsigned lane = thread % 32, warp = thread / 32;
  T sum = value;
  for (unsigned step = 1; step < 32; step *= 2) {
    const T other = __shfl_up_sync(~0U, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) of_warp[warp] = sum;
  __syncthreads();
  T before = sum - value;
  for (unsigned w = 0; w < warp; ++w) before += of_warp[w];
  __syncthreads();
  return before;
}

/// Fills in `before` for bits that are set and visible. Returns how many are set up to the end of
/// this thread's words: all of them for the last thread of the block.
template <int threads = block_size>
__device__ unsigned number_bits(const unsigned* bits, unsigned* before, int words, unsigned thread,
                                unsigned* of_warp) {
  const int each = (words + threads - 1) / threads;
  const int begin = static_cast<int>(thread) * each;
  const int first = begin < words ? begin : words;
  const int end = first + each < words ? first + each : words;
  unsigned own = 0;
  for (int word = first; word < end; ++word) own += __popc(bits[word]);
  unsigned sum = sum_before(own, thread, of_warp);
  for (int word = first; word < end; ++word) {
    before[word] = sum;
    sum += __popc(bits[word]);
  }
  __syncthreads();
  return sum;
}
__device__ inline unsigned number_places(PlaceWorkspace& workspace, int words, unsigned thread) {
  return number_bits(workspace.bits, workspace.before, words, thread, workspace.of_warp);
}

/// Counts the threads of a warp that come with the same number, before this one and in all; all
/// active threads come together. Returns the counter's value before this thread.
__device__ inline int take_number(int* counter, unsigned number) {
  const unsigned peers = __match_any_sync(__activemask(), number);
  const unsigned lane = threadIdx.x % 32;
  const int leader = __ffs(static_cast<int>(peers)) - 1;
  int before = 0;
  if (static_cast<int>(lane) == leader) before = atomicAdd(counter, __popc(peers));
  before = __shfl_sync(peers, before, leader);
  return before + __popc(peers & ((1U << lane) - 1));
}

/// Calls `body(number, place, payload)` for the entries of a node, by rows, shared among a block of
/// threads.
template <class Body>
__device__ void for_each_entry(const NodeView& node, PlaceWorkspace& workspace, const Body& body) {
  const auto thread = static_cast<int>(threadIdx.x);
  if (node.kind != NodeKind::dense) {
    for (int k = thread; k < node.count(); k += block_size) body(k, node.places()[k], k);
    return;
  }
  const int words = PlaceBits::words_of(node.shape.positions());
  for (int word = thread; word < words; word += block_size) {
    workspace.bits[word] = reinterpret_cast<const unsigned*>(node.places())[word];
  }
  __syncthreads();
  number_places(workspace, words, threadIdx.x);
  const PlaceBits places{workspace.bits, workspace.before};
  for (int position = thread; position < static_cast<int>(node.shape.positions());
       position += block_size) {
    if (places.has(position)) {
      body(places.number_of(position), node.shape.place_at(position), position);
    }
  }
}

}  // namespace heddle::cuda
