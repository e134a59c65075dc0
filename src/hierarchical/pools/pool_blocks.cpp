#include "pool_blocks.hpp"

#include <sys/mman.h>
#include <unistd.h>

#include <algorithm>
#include <cstdint>
#include <iterator>

#include "base/memory_limits.hpp"

namespace heddle::detail {

namespace {

constexpr std::size_t huge_page = std::size_t(2) << 20;

std::size_t rounded_up(std::size_t value, std::size_t multiple) {
  return (value + multiple - 1) / multiple * multiple;
}

std::size_t eighth_of_memory() {
  static const std::size_t bytes = static_cast<std::size_t>(sysconf(_SC_PHYS_PAGES)) *
                                   static_cast<std::size_t>(sysconf(_SC_PAGESIZE)) / 8;
  return bytes;
}

/// A block aligned to huge pages, which it requests if it fills some; null if there is no memory.
PoolBlocks::Block new_block(std::size_t bytes) {
  const std::size_t size = rounded_up(bytes, huge_page), reserved = size + huge_page;
  void* const pages =
      mmap(nullptr, reserved, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (pages == MAP_FAILED) return {};
  auto* const begin = static_cast<std::byte*>(pages);
  const std::size_t before = rounded_up(reinterpret_cast<std::uintptr_t>(begin), huge_page) -
                             reinterpret_cast<std::uintptr_t>(begin);
  std::byte* const data = begin + before;
  if (before > 0) munmap(begin, before);
  if (before < huge_page) munmap(data + size, huge_page - before);
  // A refusal costs speed, not correctness.
  if (bytes >= huge_page) madvise(data, bytes - bytes % huge_page, MADV_HUGEPAGE);
  return {data, size};
}

}  // namespace

PoolBlocks& PoolBlocks::of_process() {
  static PoolBlocks* const blocks = new PoolBlocks;  // outlives pools of static variables
  return *blocks;
}

std::byte* PoolBlocks::take(std::size_t bytes) {
  const std::lock_guard lock(mutex_);
  const std::size_t blocks = taken_.size() + kept_.size() + 1;
  taken_.reserve(blocks);
  kept_.reserve(blocks);  // so that nothing is allocated when they come back
  const auto at = std::find_if(kept_.rbegin(), kept_.rend(), [&](const Block& block) {
    return block.size >= bytes && block.size <= rounded_up(bytes + bytes / 8, huge_page);
  });
  Block block;
  if (at != kept_.rend()) {
    block = *at;
    kept_.erase(std::next(at).base());
    bytes_kept_ -= block.size;
  } else {
    drop_until(bytes_kept_ - std::min(bytes_kept_, bytes));
    // Linux promises more than it has, and ends the process that takes it at its word.
    if (static_cast<long long>(bytes) <= available_host_memory()) block = new_block(bytes);
    if (block.data == nullptr) return nullptr;
  }
  taken_.push_back(block);
  bytes_taken_ += block.size;
  return block.data;
}

bool PoolBlocks::give_back(std::byte* data) noexcept {
  const std::lock_guard lock(mutex_);
  const auto at = std::find_if(taken_.begin(), taken_.end(),
                               [&](const Block& block) { return block.data == data; });
  if (at == taken_.end()) return false;
  kept_.push_back(*at);
  bytes_taken_ -= at->size;
  bytes_kept_ += at->size;
  taken_.erase(at);
  drop_until(std::min(bytes_taken_, eighth_of_memory()));
  return true;
}

std::size_t PoolBlocks::kept_bytes() const {
  const std::lock_guard lock(mutex_);
  return bytes_kept_;
}

void PoolBlocks::drop_until(std::size_t most) {
  while (bytes_kept_ > most) {
    munmap(kept_.front().data, kept_.front().size);
    bytes_kept_ -= kept_.front().size;
    kept_.erase(kept_.begin());
  }
}

}  // namespace heddle::detail
