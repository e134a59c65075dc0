// Devices named by the options of heddle.h.
#pragma once

#include <memory_resource>
#include <string>

#include "base/device_name.hpp"
#include "heddle/device.hpp"
#include "heddle/error.hpp"

namespace heddle::c {

/// A null `device` means "cpu". Throws `Error`: usage for another name, or for a stream on the CPU;
/// no_device.
inline Device device_named(const char* device, int threads, void* stream = nullptr,
                           std::pmr::memory_resource* memory = nullptr) {
  const std::string name = device == nullptr ? "cpu" : device;
  if (const auto gpu = gpu_named(name)) {
    return Device::cuda(*gpu, static_cast<CUstream_st*>(stream), memory);
  }
  if (stream != nullptr) {
    throw Error(ErrorKind::usage,
                "a stream belongs to a GPU, but device '" + name + "' is the CPU");
  }
  return Device::cpu(threads, memory);
}

}  // namespace heddle::c
