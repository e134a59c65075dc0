// A buffer of values that are not initialised, for callers that fill all of it.
#pragma once

#include <cstddef>
#include <span>
#include <utility>

#include "heddle/array.hpp"
#include "heddle/detail/assert.hpp"
#include "heddle/device.hpp"

namespace heddle {

/// Like `Array<T>`, without its zeros: a page of the host's memory is touched first by the thread
/// that sets it, and once.
template <class T>
class UnsetArray {
 public:
  UnsetArray() = default;
  /// Throws `Error` (memory).
  explicit UnsetArray(std::size_t size, const Device& device = Device::cpu()) : device_(device) {
    if (size == 0) return;
    data_ = static_cast<T*>(detail::allocate_values(size, sizeof(T), alignment, device_));
    size_ = size;
  }
  UnsetArray(std::span<const T> values, const Device& device = Device::cpu())
      : UnsetArray(values.size(), device) {
    detail::copy_bytes(data_, values.data(), size_ * sizeof(T), device_.stream());
  }
  UnsetArray(UnsetArray&& other) noexcept { swap(other); }
  UnsetArray& operator=(UnsetArray&& other) noexcept {
    UnsetArray taken(std::move(other));
    swap(taken);
    return *this;
  }
  UnsetArray(const UnsetArray& other) : UnsetArray(other.span(), other.device_) {}
  UnsetArray& operator=(const UnsetArray& other) {
    if (this != &other) *this = UnsetArray(other);
    return *this;
  }
  ~UnsetArray() {
    if (data_ != nullptr) device_.memory()->deallocate(data_, size_ * sizeof(T), alignment);
  }

  /// The same memory, whose values must be set by now. This buffer is empty afterwards.
  Array<T> into_array() && {
    Array<T> array;
    std::swap(array.device_, device_);
    std::swap(array.data_, data_);
    std::swap(array.size_, size_);
    return array;
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) {
    HEDDLE_ASSERT(i < size_);
    return data_[i];
  }
  const T& operator[](std::size_t i) const {
    HEDDLE_ASSERT(i < size_);
    return data_[i];
  }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<T> span() { return {data_, size_}; }
  std::span<const T> span() const { return {data_, size_}; }

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
