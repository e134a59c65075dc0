// One value of a device's memory, such as the last of many sums, for the host.
#pragma once

#include "heddle/array.hpp"
#include "heddle/device.hpp"

namespace heddle {

/// Reads after all work that was queued on the device's stream, for which it waits.
template <class T>
T read_value(const T* from, const Device& device) {
  T value{};
  detail::copy_bytes(&value, from, sizeof value, device.stream());
  return value;
}

}  // namespace heddle
