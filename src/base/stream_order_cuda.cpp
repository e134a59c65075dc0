#include "stream_order_cuda.hpp"

#include <cstring>
#include <string>

#include "cuda_handles.hpp"
#include "heddle/error.hpp"

namespace heddle::cuda {

void queue_after(CUstream_st* later, CUstream_st* earlier, int gpu) {
  if (later == earlier) return;
  const OnGpu here({1, gpu, nullptr, nullptr});
  const Event event = make_event();
  check(cudaEventRecord(event.get(), earlier), "cudaEventRecord");
  check(cudaStreamWaitEvent(later, event.get(), 0), "cudaStreamWaitEvent");
}

void check_stream(CUstream_st* stream, int gpu) {
  if (stream == cudaStreamLegacy || stream == cudaStreamPerThread) return;  // the current GPU's own
  if (is_being_captured(stream, gpu)) return;                               // which hides its GPU
  const OnGpu here({1, gpu, nullptr, nullptr});
  int own = gpu;
  check(cudaStreamGetDevice(stream, &own), "cudaStreamGetDevice");
  if (own == gpu) return;
  throw Error(ErrorKind::usage, "a stream of GPU " + std::to_string(own) +
                                    " is used in work on GPU " + std::to_string(gpu));
}

bool is_being_captured(CUstream_st* stream, int gpu) {
  if (stream == cudaStreamLegacy) return false;
  const OnGpu here({1, gpu, nullptr, nullptr});
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  check(cudaStreamIsCapturing(stream, &status), "cudaStreamIsCapturing");
  return status != cudaStreamCaptureStatusNone;
}

std::shared_ptr<void> pinned_memory(std::size_t bytes, const Stream& stream) {
  const OnGpu here(stream);
  void* data = nullptr;
  check(cudaHostAlloc(&data, bytes, cudaHostAllocMapped | cudaHostAllocPortable), "cudaHostAlloc");
  std::memset(data, 0xFF, bytes);
  return {data, [](void* taken) { cudaFreeHost(taken); }};
}

}  // namespace heddle::cuda
