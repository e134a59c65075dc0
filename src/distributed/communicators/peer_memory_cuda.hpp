// Memory of a GPU that kernels on other GPUs of the process read and write.
#pragma once

#include <cuda_runtime_api.h>

#include <cstddef>
#include <memory>

#include "base/cuda_call.hpp"

namespace heddle::cuda {

/// A separate allocation of zeros: a pool's memory is not for other GPUs.
class PeerMemory {
 public:
  PeerMemory() = default;
  PeerMemory(std::size_t bytes, const Stream& stream) {
    if (bytes == 0) return;
    const OnGpu here(stream);
    void* data = nullptr;
    check(cudaMalloc(&data, bytes), "cudaMalloc");
    data_.reset(static_cast<std::byte*>(data));
    check(cudaMemsetAsync(data, 0, bytes, stream.queue), "cudaMemsetAsync");
    check(cudaStreamSynchronize(stream.queue), "cudaStreamSynchronize");
  }

  std::byte* data() const { return data_.get(); }

 private:
  struct Free {
    void operator()(std::byte* data) const { cudaFree(data); }
  };
  std::unique_ptr<std::byte, Free> data_;
};

/// Lets kernels and copies of the stream's GPU reach another's memory without the host. False if
/// they cannot; copies then go by way of the host.
inline bool reach(int other, const Stream& stream) {
  if (other == stream.gpu) return true;
  int can = 0;
  check(cudaDeviceCanAccessPeer(&can, stream.gpu, other), "cudaDeviceCanAccessPeer");
  if (can == 0) return false;
  const OnGpu here(stream);
  const cudaError_t status = cudaDeviceEnablePeerAccess(other, 0);
  switch (status) {
    case cudaErrorPeerAccessAlreadyEnabled:
      cudaGetLastError();  // so that the next call does not report it
      return true;
    case cudaErrorPeerAccessUnsupported:
    case cudaErrorTooManyPeers:
      cudaGetLastError();
      return false;
    default:
      check(status, "cudaDeviceEnablePeerAccess");
      return true;
  }
}

/// The capture that a stream is in; 0 for none.
inline unsigned long long capture_of(const Stream& stream) {
  cudaStreamCaptureStatus status = cudaStreamCaptureStatusNone;
  unsigned long long capture = 0;
  check(
      cudaStreamGetCaptureInfo(stream.queue, &status, &capture, nullptr, nullptr, nullptr, nullptr),
      "cudaStreamGetCaptureInfo");
  return status == cudaStreamCaptureStatusNone ? 0 : capture;
}
/// True if a stream is being captured: what is queued then runs again and again, without hosts that
/// meet.
inline bool is_captured(const Stream& stream) { return capture_of(stream) != 0; }

}  // namespace heddle::cuda
