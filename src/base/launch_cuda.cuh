// Launches of kernels that are built ahead of time and know no entries.
#pragma once

#include "cuda_call.hpp"
#include "heddle/entries/slots.hpp"

namespace heddle::cuda {

/// Queues a kernel. `overlapped`: it may come onto the GPU while the one queued before it runs, and
/// waits for that itself (kernels/loop.cuh).
template <class... Parameters, class... Arguments>
void launch_kernel(void (*kernel)(Parameters...), unsigned blocks, unsigned threads,
                   bool overlapped, const Stream& stream, const Arguments&... arguments) {
  cudaLaunchAttribute attribute{};
  attribute.id = cudaLaunchAttributeProgrammaticStreamSerialization;
  attribute.val.programmaticStreamSerializationAllowed = 1;
  cudaLaunchConfig_t config{};
  config.gridDim = {blocks, 1, 1};
  config.blockDim = {threads, 1, 1};
  config.stream = stream.queue;
  config.attrs = &attribute;
  config.numAttrs = overlapped ? 1 : 0;
  check(cudaLaunchKernelEx(&config, kernel, arguments...), "cudaLaunchKernelEx");
}

/// True if a kernel's request to wait for the kernel before it is compiled in: from sm_90 on.
template <class... Parameters>
bool can_overlap(void (*kernel)(Parameters...), const Stream& stream) {
  constexpr int first_architecture = 90;
  const OnGpu here(stream);
  cudaFuncAttributes attributes{};
  check(cudaFuncGetAttributes(&attributes, kernel), "cudaFuncGetAttributes");
  // Not the GPU's own architecture: PTX of an older one leaves the waiting out.
  return attributes.ptxVersion >= first_architecture;
}

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

/// Calls `body(i)` for every i < count, one thread each.
template <class Body>
void for_each_index(const Stream& stream, Offset count, const Body& body) {
  for_each_thread(stream, (count + block_size - 1) / block_size, IfBelow<Body>{count, body});
}

}  // namespace heddle::cuda
