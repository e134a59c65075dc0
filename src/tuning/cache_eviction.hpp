// Caches that hold nothing of the work that comes next.
#pragma once

#include <span>

#include "heddle/array.hpp"

namespace heddle {

/// Of the last level, all caches of the device together; 64 MiB where the system does not say.
long long last_level_cache_bytes(const Device& device);
/// The same; 0 where the system does not say.
long long known_cache_bytes(const Device& device);

/// A buffer of three times that size, in the device's memory.
class CacheEviction {
 public:
  explicit CacheEviction(const Device& device);

  /// Fills the caches with the buffer. The last of it is only read: lines that were written would
  /// have to be stored while the next work runs. On a GPU nothing is allocated and nothing waited
  /// for.
  void run(const Stream& stream);

  /// Where the device has it. On a CPU each run adds its index to every number, and stores the sum
  /// of all that it then reads in the first.
  std::span<const unsigned long long> buffer() const { return buffer_.span(); }

 private:
  Array<unsigned long long> buffer_;
};

}  // namespace heddle
