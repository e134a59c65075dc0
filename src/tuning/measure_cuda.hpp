// Timing of work that is queued on a GPU's stream.
#pragma once

#include <functional>
#include <vector>

#include "heddle/measure.hpp"

namespace heddle::cuda {

/// As `heddle::measure`, for works that only queue: each is recorded in a graph of as many runs as
/// take about a millisecond, which is replayed between two events. Seconds of one run, with warm
/// caches.
std::vector<Timing> measure(const std::vector<std::function<void(const Stream&)>>& works,
                            int repetitions, const Device& device);

/// As `heddle::measure_cold`.
std::vector<Timing> measure_cold(const std::vector<std::function<void(const Stream&)>>& works,
                                 int repetitions, const Device& device);

/// y = x over `bytes`, 16 bytes a thread and a grid that covers it all: the fastest copy there is.
void copy_kernel(const void* x, void* y, std::size_t bytes, const Stream& stream);

void empty_kernel(const Stream& stream);

long long last_cache_bytes(const Stream& stream);

/// Writes all of `data`, of a multiple of 16 bytes, and then reads it.
void write_and_read(void* data, std::size_t bytes, const Stream& stream);

}  // namespace heddle::cuda
