// How large the caches of a device are.
#pragma once

#include "heddle/device.hpp"

namespace heddle {

/// Of the last level, all caches of the device together; 64 MiB where the system does not say.
long long last_level_cache_bytes(const Device& device);
/// The same; 0 where the system does not say.
long long known_cache_bytes(const Device& device);

}  // namespace heddle
