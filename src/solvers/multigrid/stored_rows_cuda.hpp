// The rows of a sliced matrix as the user numbers them, in the memory of the matrix's GPU.
#pragma once

#include "heddle/detail/sliced.hpp"
#include "solvers/tiles/tile_patterns_cuda.hpp"

namespace heddle::cuda {

/// Like `detail::stored_rows`; `slot` gets the slot of each entry. Waits.
DevicePattern stored_rows(const SlicedPattern& pattern, Array<Offset>& slot, const Device& device);

}  // namespace heddle::cuda
