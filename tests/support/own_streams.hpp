// Devices and streams on which the ranks of a test work.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "support/gpu.hpp"

namespace heddle::test {

/// The device on which each rank works.
using Devices = std::vector<Device>;
inline Devices all_on(const Device& device) { return {device}; }

/// Streams of one GPU, one for each rank: on a shared stream, all work would be in order anyway.
class OwnStreams {
 public:
  static constexpr std::size_t most = 5;

  Devices devices() const {
    Devices devices;
    for (const OwnStream& stream : streams_) devices.push_back(Device::cuda(0, stream.get()));
    return devices;
  }

 private:
  std::array<OwnStream, most> streams_;
};

}  // namespace heddle::test
