// A fixed-size buffer of plain values from a device's memory.
#pragma once

#include <cstddef>
#include <span>
#include <type_traits>
#include <utility>
#include <vector>

#include "heddle/detail/assert.hpp"
#include "heddle/device.hpp"
#include "heddle/export.hpp"

namespace heddle {

namespace detail {
/// Copies on a GPU's stream between host and device; the host's side is free when this returns.
HEDDLE_EXPORT void copy_bytes(void* to, const void* from, std::size_t bytes, const Stream& stream);
/// Sets bytes with the team that will use the pages, which places each page near its thread.
HEDDLE_EXPORT void fill_bytes(void* data, int byte, std::size_t bytes, const Stream& stream);
}  // namespace detail

template <class T>
class UnsetArray;  // internal to the library

/// Elements can be read and written one by one only in the host's memory. A moved-from array is
/// empty.
template <class T>
class HEDDLE_EXPORT Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;

  /// `size` values, with every byte set to `byte`. Throws `Error` (memory) if they do not fit.
  explicit Array(std::size_t size, const Device& device = Device::cpu(), int byte = 0) : Array() {
    allocate(size, device);
    if (size_ == 0) return;
    detail::fill_bytes(static_cast<void*>(data_), byte, size_ * sizeof(T), device.stream());
  }
  Array(std::span<const T> values, const Device& device = Device::cpu()) : Array() {
    allocate(values.size(), device);
    detail::copy_bytes(static_cast<void*>(data_), static_cast<const void*>(values.data()),
                       size_ * sizeof(T), device_.stream());
  }

  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    Array taken(std::move(other));
    swap(taken);
    return *this;
  }
  Array(const Array& other) : Array(other.span(), other.device_) {}
  Array& operator=(const Array& other) {
    if (this != &other) *this = Array(other);
    return *this;
  }
  ~Array() {
    if (data_ == nullptr) return;
    device_.memory()->deallocate(static_cast<void*>(data_), size_ * sizeof(T), alignment);
  }

  const Device& device() const { return device_; }
  /// A copy in the host's memory.
  std::vector<T> to_host() const {
    std::vector<T> values(size_);
    detail::copy_bytes(static_cast<void*>(values.data()), static_cast<const void*>(data_),
                       size_ * sizeof(T), device_.stream());
    return values;
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
  friend class UnsetArray<T>;  // becomes an array once its values are set
  static constexpr std::size_t alignment = 64;

  void allocate(std::size_t size, const Device& device) {
    device_ = device;
    if (size == 0) return;
    data_ = static_cast<T*>(detail::allocate_values(size, sizeof(T), alignment, device_));
    size_ = size;
  }
  void swap(Array& other) noexcept {
    std::swap(device_, other.device_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  Device device_;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace heddle
