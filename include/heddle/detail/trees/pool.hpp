// Blocks of bytes that hold nodes of trees, and never change once they are written.
#pragma once

#include <atomic>
#include <cstddef>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <utility>

#include "heddle/array.hpp"
#include "heddle/export.hpp"

namespace heddle::detail {

/// Lies in host memory, of which GPUs have copies, or in a GPU's, which the host copies as soon as
/// it reads.
class HEDDLE_EXPORT Pool {
 public:
  /// Uninitialized bytes: whoever writes nodes writes all of them. Throws `Error` (memory).
  Pool(std::size_t bytes, const Device& device);
  /// Bytes in a GPU's memory, written and ready for any stream.
  explicit Pool(std::shared_ptr<const Array<std::byte>> there);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  std::byte* data() { return data_; }
  /// The bytes on the host, where the first call copies a GPU's. Throws `Error` (memory).
  const std::byte* data() const {
    const std::byte* const here = data_.load(std::memory_order_acquire);
    return here != nullptr || size_ == 0 ? here : fetched();
  }
  bool is_on_host() const { return data_.load(std::memory_order_acquire) != nullptr; }
  std::size_t size() const { return size_; }

  /// The copy in a GPU's memory, shared by all matrices with the same source of memory there, by
  /// default those of one stream. The first request makes it, and it is freed with the last matrix
  /// there. Throws `Error` (memory).
  std::shared_ptr<const Array<std::byte>> on(const Device& gpu) const;

 private:
  const std::byte* fetched() const;

  Device device_;
  std::size_t size_;
  mutable std::atomic<std::byte*> data_ = nullptr;  // null if there are no bytes, or no copy
  std::shared_ptr<const Array<std::byte>> there_;   // null for a pool in host memory
  mutable std::mutex copying_;
  /// Keyed by GPU and source of memory.
  using Place = std::pair<int, std::pmr::memory_resource*>;
  mutable std::map<Place, std::weak_ptr<const Array<std::byte>>> copies_;
};

}  // namespace heddle::detail
