// Calls of the CUDA run-time library, checked.
#pragma once

#include <cuda_runtime_api.h>

#include <string>

#include "heddle/device.hpp"
#include "heddle/error.hpp"

namespace heddle::elastic::cuda {

inline void check(cudaError_t status, const char* call) {
  if (status == cudaSuccess) return;
  const ErrorKind kind =
      status == cudaErrorMemoryAllocation ? ErrorKind::memory : ErrorKind::internal;
  throw Error(kind, std::string(call) + ": " + cudaGetErrorString(status));
}

/// Makes a stream's GPU current, and the one before again at the end.
class OnGpu {
 public:
  explicit OnGpu(const Stream& stream) {
    check(cudaGetDevice(&before_), "cudaGetDevice");
    if (before_ == stream.gpu) return;
    check(cudaSetDevice(stream.gpu), "cudaSetDevice");
    changed_ = true;
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

}  // namespace heddle::elastic::cuda
