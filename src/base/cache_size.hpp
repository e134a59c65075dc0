// Sizes of the caches of a device.
#pragma once

#include "heddle/device.hpp"

namespace heddle {

/// Last level, all caches of the device together; 64 MiB if the system does not report them.
long long last_level_cache_bytes(const Device& device);
/// Same, but 0 if the system does not report them.
long long known_cache_bytes(const Device& device);

}  // namespace heddle
