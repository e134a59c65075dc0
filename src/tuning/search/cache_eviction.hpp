// Caches that hold nothing of the work that comes next.
#pragma once

#include <span>

#include "heddle/array.hpp"

namespace heddle {

/// A buffer of three times the caches' size, in the device's memory.
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
