// Aggregates, and the norms that decide them, in a GPU's memory (aggregates.hpp).
#pragma once

#include <memory>

#include "aggregates.hpp"
#include "base/unset_array.hpp"
#include "solvers/tiles/tile_patterns_cuda.hpp"

namespace heddle::cuda {

/// `detail::EntryNorms`.
struct DeviceNorms {
  UnsetArray<double> squared, diagonal;
  UnsetArray<unsigned char> is_coupled;
};

/// Pinned memory of the host, through which numbers come from a GPU.
class PinnedBuffer {
 public:
  /// Room for `count` numbers. Its contents may be lost.
  Index* words(Offset count, const Stream& stream);

 private:
  std::shared_ptr<void> data_;
  Offset count_ = 0;
};

/// Like `detail::aggregate`, with `of` on the GPU. The host finds the roots, in order, among strong
/// connections that come from there: a lexicographically first set is a long chain. (In rounds of
/// rows that no earlier row can hinder, elasticity of 20 280 vertices takes 1200 rounds.) Waits.
heddle::detail::Aggregates aggregate(const DevicePattern& a, const DeviceNorms& norms,
                                     double strength, PinnedBuffer& buffer, const Device& device);

/// Pattern of the tentative prolongation: the aggregate of each row.
DevicePattern tentative_pattern(const heddle::detail::Aggregates& aggregates, const Device& device);

}  // namespace heddle::cuda
