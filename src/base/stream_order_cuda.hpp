// Order between two streams of one GPU.
#pragma once

#include <cstddef>
#include <memory>

#include "heddle/device.hpp"

namespace heddle::cuda {

/// Work queued on `later` from here on waits for the work now on `earlier`; no host waits. Both are
/// streams of the GPU, whose default stream is cudaStreamLegacy here. While `earlier` is being
/// captured, `later` joins that capture.
void queue_after(CUstream_st* later, CUstream_st* earlier, int gpu);

/// Throws `Error` (usage) for a stream of another GPU.
void check_stream(CUstream_st* stream, int gpu);

/// True if work for the stream becomes part of a graph, which the default stream's never does.
bool is_being_captured(CUstream_st* stream, int gpu);

/// Memory of the host, all of whose bytes are 0xFF, that the GPU writes to.
std::shared_ptr<void> pinned_memory(std::size_t bytes, const Stream& stream);

}  // namespace heddle::cuda
