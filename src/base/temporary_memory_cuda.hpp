// Memory of the temporary arrays of one call on a GPU, in few blocks of the device's own.
#pragma once

#include <cstddef>
#include <memory_resource>
#include <vector>

#include "device_cuda.hpp"
#include "heddle/device.hpp"
#include "heddle/error.hpp"

namespace heddle::cuda {

/// Small arrays lie in blocks that are returned together, large ones lie alone: to allocate and
/// free an array of a few bytes takes the host as long as to queue a kernel.
class TemporaryMemory final : public std::pmr::memory_resource {
 public:
  explicit TemporaryMemory(const Device& owner)
      : owner_(owner),
        is_in_order_(owner.memory() == stream_memory(owner.stream())),
        device_(Device::cuda(owner.stream().gpu, owner.stream().queue, this)) {}
  TemporaryMemory(const TemporaryMemory&) = delete;
  TemporaryMemory& operator=(const TemporaryMemory&) = delete;
  ~TemporaryMemory() override {
    if (!is_in_order_ && !blocks_.empty()) {
      try {
        owner_.synchronize();  // a caller's resource may give memory to others at once
      } catch (const Error&) {
        // The next call that waits reports the error.
      }
    }
    for (const Block& block : blocks_) give_back(block.data, block.bytes);
  }

  /// The owner's stream, with memory from here: for arrays that end before this object does.
  const Device& device() const { return device_; }

 private:
  static constexpr std::size_t alignment = 256;
  static constexpr std::size_t block_bytes = std::size_t(4) << 20;
  static constexpr std::size_t large = block_bytes / 8;

  struct Block {
    void* data;
    std::size_t bytes;
  };

  /// Throws `Error` (memory), which reports what the owner has.
  void* allocated(std::size_t bytes) {
    return heddle::detail::allocate_values(bytes, 1, alignment, owner_);
  }
  void* take(std::size_t bytes) {
    blocks_.reserve(blocks_.size() + 1);
    void* const data = allocated(bytes);
    blocks_.push_back({data, bytes});
    return data;
  }
  void give_back(void* data, std::size_t bytes) {
    owner_.memory()->deallocate(data, bytes, alignment);
  }

  void* do_allocate(std::size_t bytes, std::size_t) override {
    if (bytes >= large) return is_in_order_ ? allocated(bytes) : take(bytes);
    if (next_ == nullptr || used_ + bytes > block_bytes) {
      next_ = static_cast<std::byte*>(take(block_bytes));
      used_ = 0;
    }
    void* const data = next_ + used_;
    used_ += (bytes + alignment - 1) / alignment * alignment;
    return data;
  }
  void do_deallocate(void* data, std::size_t bytes, std::size_t) override {
    if (bytes >= large && is_in_order_) give_back(data, bytes);
  }
  bool do_is_equal(const std::pmr::memory_resource& other) const noexcept override {
    return this == &other;
  }

  Device owner_;
  bool is_in_order_;  // memory is returned in the order of the stream
  Device device_;
  std::vector<Block> blocks_;
  std::byte* next_ = nullptr;  // the block that is being shared out
  std::size_t used_ = 0;
};

}  // namespace heddle::cuda
