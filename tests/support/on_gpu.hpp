// Tests on a GPU, for files of either compiler: includes no CUDA header.
#pragma once

#include <gtest/gtest.h>

#include <string>

#include "heddle/device.hpp"

namespace heddle::test {

/// Tests that need a GPU; without one they are skipped with the reason.
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
