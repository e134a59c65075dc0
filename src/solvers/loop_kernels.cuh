// What the vector kernels of loops in a graph share.
#pragma once

#include "../fields/chunk_operations.hpp"
#include "heddle/kernels/reduce.cuh"

namespace heddle::cuda {

/// Threads of a block: as two of those in chunks.hpp, since every block adds the sums of the kernel
/// before for itself.
inline constexpr int threads_of_loop = 2 * threads_of_block;

/// Blocks that a multiprocessor has the registers for, at least, whatever the kernel.
inline constexpr int resident_blocks_of_loop = 2;

/// All blocks are there at once where that takes a thread few steps: a second wave would add the
/// sums of the kernel before once more. `filling`: chunks that fill a GPU.
template <Ring R, class S>
Walk walk_of_loop(const FieldView<S>& field, Offset filling) {
  constexpr int most_steps = 8;
  return walk_over<R>(field, most_steps, filling);
}

inline unsigned blocks_of_loop(const Walk& walk) {
  constexpr unsigned together = threads_of_loop / threads_of_block;
  return (walk.blocks() + together - 1) / together;
}

/// Partial sums that a kernel over this walk leaves at `partials`.
inline device::PartialSums partial_sums(const Walk& walk, const double* partials) {
  return {partials, blocks_of_loop(walk) * device::partials_of_block(threads_of_loop), 1};
}

template <class Chunk, class Operation>
__device__ __forceinline__ void visit_chunks_of_thread(const Walk& walk, const Operation& operation,
                                                       double* sums = nullptr) {
  const unsigned thread = blockIdx.x * threads_of_loop + threadIdx.x;
  const unsigned block = thread / threads_of_block;
  if (block < walk.blocks()) {
    visit_chunks<Chunk>(walk, block, static_cast<int>(thread % threads_of_block), operation, sums);
  }
}

template <int N>
__device__ __forceinline__ void leave_sums(double* partials, double (&sums)[N]) {
  device::store_partials<N, threads_of_loop>({partials, nullptr}, sums, blockIdx.x);
}

}  // namespace heddle::cuda
