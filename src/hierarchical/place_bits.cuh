// Sums and ranks that a block of threads finds together.
#pragma once

#include "base/launch_cuda.cuh"
#include "node_bits.hpp"

namespace heddle::cuda {

/// Memory of a block of threads that numbers the entries of a node.
struct PlaceRoom {
  unsigned bits[PlaceBits::most_words];
  unsigned before[PlaceBits::most_words];
  unsigned of_warp[block_size / 32];
};

/// What the threads of a block before this one have; all threads take part.
__device__ inline unsigned sum_before(unsigned value, unsigned thread, unsigned* of_warp) {
  const unsigned lane = thread % 32, warp = thread / 32;
  unsigned sum = value;
  for (unsigned step = 1; step < 32; step *= 2) {
    const unsigned other = __shfl_up_sync(~0U, sum, step);
    if (lane >= step) sum += other;
  }
  if (lane == 31) of_warp[warp] = sum;
  __syncthreads();
  unsigned before = sum - value;
  for (unsigned w = 0; w < warp; ++w) before += of_warp[w];
  __syncthreads();
  return before;
}

/// Fills in `before` of bits that are set and visible, and returns the ones of this thread's words.
__device__ inline unsigned number_places(PlaceRoom& room, int words, unsigned thread) {
  const int each = (words + block_size - 1) / block_size;
  const int first = static_cast<int>(thread) * each;
  const int end = first + each < words ? first + each : words;
  unsigned own = 0;
  for (int word = first; word < end; ++word) own += __popc(room.bits[word]);
  unsigned sum = sum_before(own, thread, room.of_warp);
  for (int word = first; word < end; ++word) {
    room.before[word] = sum;
    sum += __popc(room.bits[word]);
  }
  __syncthreads();
  return own;
}

}  // namespace heddle::cuda
