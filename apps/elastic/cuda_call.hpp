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
    check(cudaSetDevice(stream.gpu), "cudaSetDevice");
  }
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;
  ~OnGpu() { cudaSetDevice(before_); }

 private:
  int before_ = 0;
};

}  // namespace heddle::elastic::cuda
