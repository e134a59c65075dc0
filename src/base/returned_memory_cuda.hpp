// The return of a GPU's memory while kernels that use it are queued.
#pragma once

#include "device_cuda.hpp"
#include "temporary_memory_cuda.hpp"

namespace heddle::cuda {

/// The library's own memory is returned in the order of the stream, and temporary memory handles
/// its own. A caller's resource may give memory to others at once, so this waits for the stream.
inline void wait_before_memory_goes_back(const Device& device) {
  if (dynamic_cast<const TemporaryMemory*>(device.memory()) != nullptr) return;
  if (device.memory() != stream_memory(device.stream())) device.synchronize();
}

}  // namespace heddle::cuda
