// Empties the caches of the data of the next work.
#pragma once

#include <span>

#include "heddle/array.hpp"

namespace heddle {

/// A buffer of three times the caches' size, in the device's memory.
class CacheEviction {
 public:
  explicit CacheEviction(const Device& device);

  /// Fills the caches with the buffer. The last pass only reads: written lines would have to be
  /// stored while the next work runs. On a GPU nothing is allocated and nothing waits.
  void run(const Stream& stream);

  /// The buffer in the device's memory. On a CPU each run adds its index to every number, and
  /// stores the sum of all numbers then read in the first.
  std::span<const unsigned long long> buffer() const { return buffer_.span(); }

 private:
  Array<unsigned long long> buffer_;
};

}  // namespace heddle
