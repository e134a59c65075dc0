// A user's values of entries, where kernels can read them.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

#include "base/device_cuda.hpp"
#include "heddle/array.hpp"
#include "heddle/detail/trees/tree_building_cuda.hpp"
#include "tree_levels_cuda.hpp"

namespace heddle::cuda {

/// Values where kernels can read them.
class StagedEntries {
 public:
  StagedEntries(const EntriesToStore& entries, Offset count, int entry_bytes, const Device& device)
      : order_(entries.order, device), data_(entries.values) {
    if (count > 0 && !is_device_memory(data_, device.stream())) {
      copied_ = Array<std::byte>(std::span(static_cast<const std::byte*>(data_),
                                           static_cast<std::size_t>(count * entry_bytes)),
                                 device);
      data_ = copied_.data();
    }
    constexpr int wide = sizeof(unsigned long long);
    const bool takes_wide = order_.empty() && entry_bytes % wide == 0 &&
                            reinterpret_cast<std::uintptr_t>(data_) % wide == 0;
    word_bytes_ = takes_wide ? wide : entries.scalar_bytes;
  }

  PayloadsOnGpu payloads() const {
    return {data_, word_bytes_, order_.empty() ? nullptr : order_.data()};
  }

 private:
  Array<int> order_;
  Array<std::byte> copied_;
  const void* data_;
  int word_bytes_;
};

}  // namespace heddle::cuda
