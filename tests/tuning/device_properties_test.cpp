// Properties reported for a device, and the devices that can share plans.
#include "heddle/tuning/device_properties.hpp"

#include <gtest/gtest.h>

namespace {

using namespace heddle;

TEST(DeviceProperties, OfTheHost) {
  const DeviceProperties p = properties_of(Device::cpu(3));
  EXPECT_FALSE(p.gpu);
  EXPECT_FALSE(p.name.empty());
  EXPECT_GT(p.memory, 1LL << 24);
  EXPECT_GE(p.last_cache, 0);
  EXPECT_EQ(p.threads, 3);
  EXPECT_TRUE(p.instructions == "AVX2 and FMA" || p.instructions == "x86-64") << p.instructions;
  EXPECT_EQ(p.multiprocessors, 0);
  EXPECT_EQ(why_another_class(p, properties_of(Device::cpu(1))), "");
}

DeviceProperties gpu(const std::string& name, int architecture) {
  DeviceProperties p;
  p.gpu = true;
  p.name = name;
  p.architecture = architecture;
  return p;
}

TEST(DeviceProperties, OfOneClassAreKindAndNameOrInstructions) {
  DeviceProperties narrow, wide;
  narrow.instructions = "x86-64";
  wide.instructions = "AVX2 and FMA";
  EXPECT_EQ(why_another_class(narrow, wide),
            "it is for products on CPUs with x86-64, these are for AVX2 and FMA");
  DeviceProperties other = wide;
  other.name = "another";
  other.threads = 64;
  other.memory = 1;
  EXPECT_EQ(why_another_class(wide, other), "");

  const DeviceProperties h200 = gpu("NVIDIA H200", 90);
  EXPECT_EQ(why_another_class(wide, h200), "it is for a CPU");
  EXPECT_EQ(why_another_class(h200, wide), "it is for a GPU");
  EXPECT_EQ(why_another_class(gpu("NVIDIA A100", 80), h200),
            "it is for NVIDIA A100, this is NVIDIA H200");
  EXPECT_EQ(why_another_class(gpu("NVIDIA H200", 100), h200),
            "it is for compute capability 10.0, this GPU has 9.0");
  DeviceProperties partition = h200;
  partition.multiprocessors = 60;
  partition.driver = "12.8";
  EXPECT_EQ(why_another_class(partition, h200), "");
}

}  // namespace
