// The host's activity for NVIDIA's profilers: a range of the domain "heddle" on their time line.
#pragma once

#if __has_include(<nvtx3/nvtx3.hpp>)
#include <nvtx3/nvtx3.hpp>
#endif

namespace heddle {

#if __has_include(<nvtx3/nvtx3.hpp>)

struct RangeDomain {
  static constexpr const char* name = "heddle";
};
/// A range from here to the end of the scope. Costs a few nanoseconds without a profiler.
using Range = nvtx3::scoped_range_in<RangeDomain>;

#else

/// Does nothing without a CUDA toolkit.
struct Range {
  explicit Range(const char*) {}
};

#endif

}  // namespace heddle
