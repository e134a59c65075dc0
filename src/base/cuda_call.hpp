// Calls of the CUDA run-time library: each is checked where it is made.
#pragma once

#include <cuda_runtime_api.h>

#include "heddle/device.hpp"

namespace heddle::cuda {

/// Throws `Error` (memory for lack of it, no_device or internal) that names the call.
void check(cudaError_t status, const char* call);

/// Makes a stream's GPU current, and the caller's again at the end.
class OnGpu {
 public:
  explicit OnGpu(const Stream& stream);
  OnGpu(const OnGpu&) = delete;
  OnGpu& operator=(const OnGpu&) = delete;
  ~OnGpu();

 private:
  int before_ = 0;
  bool changed_ = false;
};

/// Pinned memory of the host that kernels can write to.
template <class T>
class Mapped {
 public:
  explicit Mapped(const Stream& stream) {
    const OnGpu here(stream);
    void* data = nullptr;
    check(cudaHostAlloc(&data, sizeof(T), cudaHostAllocMapped | cudaHostAllocPortable),
          "cudaHostAlloc");
    data_ = new (data) T{};
  }
  Mapped(Mapped&& other) noexcept : data_(other.data_) { other.data_ = nullptr; }
  Mapped& operator=(Mapped&&) = delete;
  ~Mapped() {
    if (data_ != nullptr) cudaFreeHost(data_);
  }
  T* operator->() const { return data_; }
  T& operator*() const { return *data_; }
  T* get() const { return data_; }

 private:
  T* data_ = nullptr;
};

}  // namespace heddle::cuda
