#include "heddle/detail/trees/pool.hpp"

#include <span>
#include <utility>

#include "pool_blocks.hpp"

namespace heddle::detail {

namespace {

constexpr std::size_t alignment = 64;

bool is_of_blocks(std::size_t bytes, const Device& device) {
  return bytes >= PoolBlocks::least && device.memory() == default_memory();
}

/// Throws `Error` (memory).
std::byte* allocated(std::size_t bytes, const Device& device) {
  std::byte* data = nullptr;
  if (is_of_blocks(bytes, device)) data = PoolBlocks::of_process().take(bytes);
  // If the host has no blocks, this words the error.
  if (data == nullptr) data = static_cast<std::byte*>(allocate_values(bytes, 1, alignment, device));
  return data;
}

void give_back(std::byte* data, std::size_t bytes, const Device& device) {
  if (is_of_blocks(bytes, device) && PoolBlocks::of_process().give_back(data)) return;
  device.memory()->deallocate(data, bytes, alignment);
}

}  // namespace

Pool::Pool(std::size_t bytes, const Device& device) : device_(device), size_(bytes) {
  if (size_ == 0) return;
  data_ = allocated(size_, device_);
}

Pool::Pool(std::shared_ptr<const Array<std::byte>> there)
    : device_(Device::cpu()), size_(there->size()), there_(std::move(there)) {}

Pool::~Pool() {
  if (is_on_host()) give_back(data_, size_, device_);
}

const std::byte* Pool::fetched() const {
  const std::lock_guard lock(copying_);
  if (!is_on_host()) {
    std::byte* const here = allocated(size_, device_);
    try {
      copy_bytes(here, there_->data(), size_, there_->device().stream());
    } catch (...) {
      give_back(here, size_, device_);
      throw;
    }
    data_.store(here, std::memory_order_release);
  }
  return data_;
}

std::shared_ptr<const Array<std::byte>> Pool::on(const Device& gpu) const {
  if (there_ && there_->device().stream().gpu == gpu.stream().gpu &&
      there_->device().memory() == gpu.memory()) {
    return there_;
  }
  const std::byte* const here = data();
  const std::lock_guard lock(copying_);
  auto& kept = copies_[{gpu.stream().gpu, gpu.memory()}];
  auto copy = kept.lock();
  if (!copy) {
    copy = std::make_shared<const Array<std::byte>>(std::span<const std::byte>(here, size_), gpu);
    gpu.synchronize();  // so that other streams find it there too
    kept = copy;
  }
  return copy;
}

}  // namespace heddle::detail
