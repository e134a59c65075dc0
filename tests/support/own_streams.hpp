// Where each rank of a test works.
#pragma once

#include <array>
#include <cstddef>
#include <vector>

#include "support/gpu.hpp"

namespace heddle::test {

/// Where each rank works.
using Devices = std::vector<Device>;
inline Devices all_on(const Device& device) { return {device}; }

/// Streams of one GPU, one for each rank: on one that they share, all would be in order anyway.
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
