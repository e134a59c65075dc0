// Events and streams of CUDA that are destroyed with their owner.
#pragma once

#include <memory>

#include "heddle/cuda_call.hpp"

namespace heddle::cuda {

struct DestroyEvent {
  void operator()(cudaEvent_t event) const { cudaEventDestroy(event); }
};
/// Work that waits for a destroyed event goes on waiting.
using Event = std::unique_ptr<CUevent_st, DestroyEvent>;

/// An event of the current GPU.
inline Event make_event(unsigned flags = cudaEventDisableTiming) {
  cudaEvent_t event = nullptr;
  check(cudaEventCreateWithFlags(&event, flags), "cudaEventCreateWithFlags");
  return Event(event);
}

struct DestroyStream {
  void operator()(cudaStream_t stream) const { cudaStreamDestroy(stream); }
};
using OwnedStream = std::unique_ptr<CUstream_st, DestroyStream>;

/// A non-blocking stream of the current GPU.
inline OwnedStream make_stream() {
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithFlags(&stream, cudaStreamNonBlocking), "cudaStreamCreateWithFlags");
  return OwnedStream(stream);
}

/// A non-blocking stream of the current GPU, whose work goes before that of other streams.
inline OwnedStream make_urgent_stream() {
  int least = 0, greatest = 0;
  check(cudaDeviceGetStreamPriorityRange(&least, &greatest), "cudaDeviceGetStreamPriorityRange");
  cudaStream_t stream = nullptr;
  check(cudaStreamCreateWithPriority(&stream, cudaStreamNonBlocking, greatest),
        "cudaStreamCreateWithPriority");
  return OwnedStream(stream);
}

}  // namespace heddle::cuda
