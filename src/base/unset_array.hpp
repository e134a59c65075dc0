// A buffer of values that nobody has set, for those who fill all of it.
#pragma once

#include <cstddef>
#include <utility>

#include "heddle/array.hpp"
#include "heddle/device.hpp"

namespace heddle {

/// As `Array<T>`, without its zeros.
template <class T>
class UnsetArray {
 public:
  UnsetArray() = default;
  /// Throws `Error` (memory).
  UnsetArray(std::size_t size, const Device& device) : device_(device) {
    if (size == 0) return;
    data_ = static_cast<T*>(detail::allocate_values(size, sizeof(T), alignment, device_));
    size_ = size;
  }
  UnsetArray(UnsetArray&& other) noexcept { swap(other); }
  UnsetArray& operator=(UnsetArray&& other) noexcept {
    UnsetArray taken(std::move(other));
    swap(taken);
    return *this;
  }
  ~UnsetArray() {
    if (data_ != nullptr) device_.memory()->deallocate(data_, size_ * sizeof(T), alignment);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }

 private:
  static constexpr std::size_t alignment = 64;

  void swap(UnsetArray& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  Device device_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace heddle
