// Tests of a GPU, for files of either compiler: includes nothing of CUDA.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "heddle/device.hpp"

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

}  // namespace heddle::test
