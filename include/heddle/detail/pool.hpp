// Blocks of bytes with nodes of trees, which never change once they are written.
#pragma once

#include <cstddef>
#include <map>
#include <memory>
#include <memory_resource>
#include <mutex>
#include <utility>

#include "heddle/array.hpp"
#include "heddle/export.hpp"

namespace heddle::detail {

/// In the host's memory; GPUs have copies.
class HEDDLE_EXPORT Pool {
 public:
  /// Of unknown bytes: whoever writes nodes writes all of them. Throws `Error` (memory).
  Pool(std::size_t bytes, const Device& device);
  ~Pool();
  Pool(const Pool&) = delete;
  Pool& operator=(const Pool&) = delete;

  std::byte* data() { return data_; }
  const std::byte* data() const { return data_; }
  std::size_t size() const { return size_; }

  /// The copy in a GPU's memory, which all matrices of the same source of memory there share, by
  /// default those of one stream. The first request makes it, and it goes with the last matrix
  /// there. Throws `Error` (memory).
  std::shared_ptr<const Array<std::byte>> on(const Device& gpu) const;

 private:
  Device device_;
  std::size_t size_;
  std::byte* data_ = nullptr;  // null where there are no bytes
  mutable std::mutex copying_;
  /// By GPU and source of memory.
  using Place = std::pair<int, std::pmr::memory_resource*>;
  mutable std::map<Place, std::weak_ptr<const Array<std::byte>>> copies_;
};

}  // namespace heddle::detail
