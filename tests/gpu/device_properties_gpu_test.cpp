// CUDA's properties of the present GPU, to the extent that every GPU must satisfy.
#include "heddle/tuning/device_properties.hpp"

#include <gtest/gtest.h>

#include "support/gpu.hpp"

namespace device_properties_gpu {
namespace {

using namespace heddle;

using DevicePropertiesOnGpu = test::OnGpu;

TEST_F(DevicePropertiesOnGpu, ArePlausible) {
  const DeviceProperties p = properties_of(Device::cuda());
  EXPECT_TRUE(p.gpu);
  EXPECT_NE(Device::cuda().description().find(p.name), std::string::npos);
  EXPECT_GT(p.memory, 1LL << 30);
  EXPECT_GT(p.last_cache, 1LL << 20);
  EXPECT_GE(p.architecture, 75);
  EXPECT_GE(p.multiprocessors, 1);
  EXPECT_EQ(p.warp, 32);
  EXPECT_EQ(p.threads_of_block, 1024);
  EXPECT_GE(p.threads_of_multiprocessor, 1024);
  EXPECT_GE(p.blocks_of_multiprocessor, 16);
  EXPECT_GE(p.registers_of_multiprocessor, 65536);
  EXPECT_GE(p.shared_memory_of_block, 48 << 10);
  EXPECT_NE(p.driver.find('.'), std::string::npos);
  EXPECT_EQ(why_another_class(p, p), "");
  EXPECT_NE(why_another_class(p, properties_of(Device::cpu())), "");
}

}  // namespace
}  // namespace device_properties_gpu
