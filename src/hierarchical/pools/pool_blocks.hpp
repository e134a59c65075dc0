// Host memory for large pools, which the next pool takes over.
#pragma once

#include <cstddef>
#include <mutex>
#include <vector>

namespace heddle::detail {

/// Pages of the system's own. Edits that follow one another write pools of about one size. New
/// pages from the system cost several times what is written to them; the C library, which keeps
/// freed memory in pieces, would grow with every edit. The kept memory is at most what live pools
/// hold, which is nothing once there is none, and an eighth of the machine's memory: callers that
/// ask how much is available do not know of it.
class PoolBlocks {
 public:
  /// Smaller pools are left to the C library.
  static constexpr std::size_t least = std::size_t(1) << 20;

  struct Block {
    std::byte* data = nullptr;
    std::size_t size = 0;
  };

  static PoolBlocks& of_process();

  /// A kept block that is at most an eighth larger, or new pages. Null if the host does not have
  /// that much.
  std::byte* take(std::size_t bytes);
  /// True if the memory came from `take`.
  bool give_back(std::byte* data) noexcept;
  /// Bytes that are kept: they make room for whatever is taken.
  std::size_t kept_bytes() const;

 private:
  void drop_until(std::size_t most);

  mutable std::mutex mutex_;
  std::vector<Block> taken_, kept_;  // kept ones: the oldest first
  std::size_t bytes_taken_ = 0, bytes_kept_ = 0;
};

}  // namespace heddle::detail
