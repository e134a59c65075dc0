#include "heddle/detail/pool.hpp"

#include <span>

namespace heddle::detail {

namespace {
constexpr std::size_t alignment = 64;
}  // namespace

Pool::Pool(std::size_t bytes, const Device& device) : device_(device), size_(bytes) {
  if (size_ == 0) return;
  data_ = static_cast<std::byte*>(allocate_values(size_, 1, alignment, device_));
}

Pool::~Pool() {
  if (data_ != nullptr) device_.memory()->deallocate(data_, size_, alignment);
}

std::shared_ptr<const Array<std::byte>> Pool::on(const Device& gpu) const {
  const std::lock_guard lock(copying_);
  auto& kept = copies_[{gpu.stream().gpu, gpu.memory()}];
  auto copy = kept.lock();
  if (!copy) {
    copy = std::make_shared<const Array<std::byte>>(std::span<const std::byte>(data_, size_), gpu);
    gpu.synchronize();  // so that other streams find it there too
    kept = copy;
  }
  return copy;
}

}  // namespace heddle::detail
