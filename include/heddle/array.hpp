// A fixed-size buffer of plain values from a device's memory.
#pragma once

#include <cstddef>
#include <cstring>
#include <memory_resource>
#include <span>
#include <type_traits>
#include <utility>

#include "heddle/device.hpp"

namespace heddle {

namespace detail {
/// memset by the team that will use the pages, so that each is placed near its thread.
void fill_bytes(void* data, int byte, std::size_t bytes, const Stream& stream);
}  // namespace detail

template <class T>
class Array {
  static_assert(std::is_trivially_copyable_v<T>);

 public:
  Array() = default;

  /// `size` values, all bytes zero.
  explicit Array(std::size_t size, const Device& device = Device::cpu())
      : memory_(device.memory()), size_(size) {
    if (size_ == 0) return;
    data_ = static_cast<T*>(memory_->allocate(size_ * sizeof(T), alignment));
    detail::fill_bytes(data_, 0, size_ * sizeof(T), device.stream());
  }
  Array(std::span<const T> values, const Device& device = Device::cpu())
      : Array(values.size(), device) {
    if (size_ != 0) std::memcpy(data_, values.data(), size_ * sizeof(T));
  }

  Array(Array&& other) noexcept { swap(other); }
  Array& operator=(Array&& other) noexcept {
    Array taken(std::move(other));
    swap(taken);
    return *this;
  }
  Array(const Array& other) : memory_(other.memory_), size_(other.size_) {
    if (size_ == 0) return;
    data_ = static_cast<T*>(memory_->allocate(size_ * sizeof(T), alignment));
    std::memcpy(data_, other.data_, size_ * sizeof(T));
  }
  Array& operator=(const Array& other) {
    Array copied(other);
    swap(copied);
    return *this;
  }
  ~Array() {
    if (data_ != nullptr) memory_->deallocate(data_, size_ * sizeof(T), alignment);
  }

  T* data() { return data_; }
  const T* data() const { return data_; }
  std::size_t size() const { return size_; }
  bool empty() const { return size_ == 0; }
  T& operator[](std::size_t i) { return data_[i]; }
  const T& operator[](std::size_t i) const { return data_[i]; }
  T* begin() { return data_; }
  T* end() { return data_ + size_; }
  const T* begin() const { return data_; }
  const T* end() const { return data_ + size_; }
  std::span<T> span() { return {data_, size_}; }
  std::span<const T> span() const { return {data_, size_}; }

 private:
  static constexpr std::size_t alignment = 64;

  void swap(Array& other) noexcept {
    std::swap(memory_, other.memory_);
    std::swap(data_, other.data_);
    std::swap(size_, other.size_);
  }

  std::pmr::memory_resource* memory_ = nullptr;
  T* data_ = nullptr;
  std::size_t size_ = 0;
};

}  // namespace heddle
