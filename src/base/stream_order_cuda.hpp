// Order between two streams of one GPU.
#pragma once

#include "heddle/device.hpp"

namespace heddle::cuda {

/// What `later` gets from here on waits for what `earlier` holds now; no host waits. Both are of
/// the GPU, whose default stream is cudaStreamLegacy here. While `earlier` is being captured,
/// `later` joins that capture. Throws `Error` (usage) for a stream of another GPU.
void queue_behind(CUstream_st* later, CUstream_st* earlier, int gpu);

}  // namespace heddle::cuda
