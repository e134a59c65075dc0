// The properties of a device on which plans depend, as data: the plans of a GPU can be listed,
// predicted and looked up elsewhere.
#pragma once

#include <string>

#include "heddle/device.hpp"
#include "heddle/export.hpp"

namespace heddle {

struct HEDDLE_EXPORT DeviceProperties {
  bool gpu = false;
  std::string name;          // name of the processor or GPU: "NVIDIA H200"
  long long memory = 0;      // bytes in total
  long long last_cache = 0;  // bytes: a GPU's L2, a CPU's last level; 0 if unknown

  // CPU properties.
  int threads = 1;           // threads of the team
  std::string instructions;  // target of compiled products: "AVX2 and FMA", "x86-64"

  // GPU properties.
  int architecture = 0;  // compute capability: 90 is 9.0
  int multiprocessors = 0;
  int warp = 32;
  int threads_of_block = 0;             // at most
  int threads_of_multiprocessor = 0;    // at most
  int blocks_of_multiprocessor = 0;     // at most
  int registers_of_multiprocessor = 0;  // 32-bit registers
  int shared_memory_of_block = 0;       // bytes, at most
  std::string driver;                   // the CUDA version that it supports: "13.0"

  bool operator==(const DeviceProperties&) const = default;
};

HEDDLE_EXPORT DeviceProperties properties_of(const Device& device);

/// Empty if plans measured on `measured` are valid on `here`: devices of the same kind; GPUs of the
/// same name and architecture; CPUs with the same instructions. Otherwise the difference in a few
/// words.
HEDDLE_EXPORT std::string why_another_class(const DeviceProperties& measured,
                                            const DeviceProperties& here);

}  // namespace heddle
