// Kernels from lambdas: what is built ahead of time and knows no entries.
#pragma once

#include "cuda_call.hpp"
#include "heddle/entries/slots.hpp"

namespace heddle::cuda {

inline constexpr int block_size = 256;

template <class Body>
__global__ void __launch_bounds__(block_size) run_threads(const Body body) {
  body(Offset(blockIdx.x), threadIdx.x);
}

/// Calls `body(block, thread)` in blocks of 256 threads.
template <class Body>
void for_each_thread(const Stream& stream, Offset blocks, const Body& body) {
  if (blocks <= 0) return;
  const OnGpu here(stream);
  run_threads<<<static_cast<unsigned>(blocks), block_size, 0, stream.queue>>>(body);
  check(cudaGetLastError(), "the launch of a kernel");
}

template <class Body>
struct IfBelow {
  Offset count;
  Body body;

  __device__ void operator()(Offset block, unsigned thread) const {
    const Offset i = block * block_size + thread;
    if (i < count) body(i);
  }
};

/// Calls `body(i)` for every i < count, a thread each.
template <class Body>
void for_each_index(const Stream& stream, Offset count, const Body& body) {
  for_each_thread(stream, (count + block_size - 1) / block_size, IfBelow<Body>{count, body});
}

}  // namespace heddle::cuda
