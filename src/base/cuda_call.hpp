// Helpers for calls of CUDA: memory of the host that a GPU sees, and calls that a capture would
// forbid.
#pragma once

#include <new>

#include "heddle/cuda_call.hpp"

namespace heddle::cuda {

/// Permits calls that a caller's capture may forbid because they could wait, such as those that
/// open a stream. They do not touch what is being captured.
class AnyCall {
 public:
  AnyCall() {
    check(cudaThreadExchangeStreamCaptureMode(&mode_), "cudaThreadExchangeStreamCaptureMode");
  }
  AnyCall(const AnyCall&) = delete;
  AnyCall& operator=(const AnyCall&) = delete;
  ~AnyCall() { cudaThreadExchangeStreamCaptureMode(&mode_); }

 private:
  cudaStreamCaptureMode mode_ = cudaStreamCaptureModeRelaxed;
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
