// Checked calls of the CUDA run-time library. Needs the toolkit's headers.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "heddle/device.hpp"
#include "heddle/error.hpp"

namespace heddle::cuda {

/// Throws `Error` (memory, no_device or internal) that names the call.
inline void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  cudaGetLastError();  // so that the next call does not report it again
  const std::string what = std::string(call) + ": " + cudaGetErrorString(status);
  switch (status) {
    case cudaErrorMemoryAllocation:
      throw Error(ErrorKind::memory,
                  "the memory of the GPU or host does not suffice (" + what + ")");
    case cudaErrorNoDevice:
    case cudaErrorInsufficientDriver:
    case cudaErrorInvalidDevice:
    case cudaErrorSystemDriverMismatch:
    case cudaErrorDevicesUnavailable:
      throw Error(ErrorKind::no_device, "no GPU can be used (" + what + ")");
    default:
      throw Error(ErrorKind::internal, "CUDA failed in " + what);
  }
}

/// Makes a stream's GPU current, and restores the caller's at the end.
class OnGpu {
 public:
  explicit OnGpu(const Stream& stream) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    changed_ = before_ != stream.gpu;
    if (changed_) check(cudaSetDevice(stream.gpu), "cudaSetDevice");
  }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;
  ~OnGpu() {
    if (changed_) cudaSetDevice(before_);
  }

 private:
  int before_ = 0;
  bool changed_ = false;
};

}  // namespace heddle::cuda
