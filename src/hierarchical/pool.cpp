#include "heddle/detail/pool.hpp"

#include <span>
#include <utility>

namespace heddle::detail {

namespace {
constexpr std::size_t alignment = 64;
}  // namespace

Pool::Pool(std::size_t bytes, const Device& device) : device_(device), size_(bytes) {
  if (size_ == 0) return;
  data_ = static_cast<std::byte*>(allocate_values(size_, 1, alignment, device_));
}

Pool::Pool(std::shared_ptr<const Array<std::byte>> there)
    : device_(Device::cpu()), size_(there->size()), there_(std::move(there)) {}

Pool::~Pool() {
  if (is_on_host()) device_.memory()->deallocate(data_, size_, alignment);
}

const std::byte* Pool::fetched() const {
  const std::lock_guard lock(copying_);
  if (!is_on_host()) {
    auto* const here = static_cast<std::byte*>(allocate_values(size_, 1, alignment, device_));
    try {
      copy_bytes(here, there_->data(), size_, there_->device().stream());
    } catch (...) {
      device_.memory()->deallocate(here, size_, alignment);
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
