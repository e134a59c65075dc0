// What CUDA tells of a GPU; defined in builds that have it.
#pragma once

#include "heddle/tuning/device_properties.hpp"

namespace heddle::cuda {

DeviceProperties properties_of(const Stream& stream);

}  // namespace heddle::cuda
