// A buffer of values that are not initialised, for callers that fill all of it.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "heddle/array.hpp"
#include "heddle/device.hpp"

namespace heddle {

/// Like `Array<T>`, without its zeros: a page of the host's memory is touched first by the thread
/// that sets it, and once.
template <class T>
class UnsetArray : private Array<T> {
  using Values = Array<T>;

 public:
  UnsetArray() = default;
  /// Throws `Error` (memory).
  explicit UnsetArray(std::size_t size, const Device& device = Device::cpu()) {
    Values::allocate(size, device);
  }
  UnsetArray(std::span<const T> values, const Device& device = Device::cpu())
      : Values(values, device) {}

  /// The same memory, whose values must be set by now. This buffer is empty afterwards.
  Array<T> into_array() && { return std::move(*this); }

  using Values::begin, Values::data, Values::empty, Values::end, Values::operator[], Values::size,
      Values::span;
};

}  // namespace heddle
