// Properties of a GPU as CUDA reports them; defined in builds with CUDA.
#pragma once

#include "heddle/tuning/device_properties.hpp"

namespace heddle::cuda {

DeviceProperties properties_of(const Stream& stream);

}  // namespace heddle::cuda
