// What tests on a GPU share.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "heddle/config.hpp"
#include "heddle/device.hpp"

/// Of CUDA's run-time library, whose headers are not the tests'.
extern "C" int cudaStreamCreateWithFlags(CUstream_st** stream, unsigned flags);
extern "C" int cudaStreamDestroy(CUstream_st* stream);

namespace heddle::test {

/// Tests that run where there is a GPU, and elsewhere are skipped with the reason.
class OnGpu : public testing::Test {
 protected:
  void SetUp() override {
    const std::string why = Device::why_no_gpu();
    if (!why.empty()) GTEST_SKIP() << why;
    device = Device::cuda();
  }

  Device device;
};

/// A stream as a program that uses heddle would make it.
class OwnStream {
 public:
  OwnStream() {
    if constexpr (has_cuda) {
      constexpr unsigned non_blocking = 1;
      EXPECT_EQ(cudaStreamCreateWithFlags(&stream_, non_blocking), 0);
    }
  }
  OwnStream(const OwnStream&) = delete;
  OwnStream& operator=(const OwnStream&) = delete;
  ~OwnStream() {
    if constexpr (has_cuda) cudaStreamDestroy(stream_);
  }
  CUstream_st* get() const { return stream_; }

 private:
  CUstream_st* stream_ = nullptr;
};

}  // namespace heddle::test
