// The rows of a sliced matrix as the user numbers them, in the GPU's memory in which it lies.
#pragma once

#include "heddle/detail/sliced.hpp"
#include "solvers/tiles/tile_patterns_cuda.hpp"

namespace heddle::cuda {

/// As `detail::stored_rows`; `slot` gets that of each entry. Waits.
DevicePattern stored_rows(const SlicedPattern& pattern, Array<Offset>& slot, const Device& device);

}  // namespace heddle::cuda
