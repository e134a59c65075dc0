// Timing of work that is queued on a GPU's stream.
#pragma once

#include <functional>
#include <vector>

#include "heddle/tuning/measure.hpp"

namespace heddle::detail {

/// Timings of the seconds that each of these returns, called in turn.
std::vector<Timing> timings_in_turn(const std::vector<std::function<double()>>& works,
                                    int repetitions);

}  // namespace heddle::detail

namespace heddle::cuda {

/// A work that only queues, recorded in a graph of as many runs as take about a millisecond. Each
/// call returns the seconds of one run with warm caches: of a replay between two events, after
/// another replay. The data of the work must outlive the function.
std::function<double()> replayed(const std::function<void(const Stream&)>& work,
                                 const Device& device);

/// Like `heddle::measure`, for works that only queue, by replays of each.
std::vector<Timing> measure(const std::vector<std::function<void(const Stream&)>>& works,
                            int repetitions, const Device& device);

/// Like `heddle::measure_cold`.
std::vector<Timing> measure_cold(const std::vector<std::function<void(const Stream&)>>& works,
                                 int repetitions, const Device& device);

/// y = x over `bytes`, 16 bytes a thread and a grid that covers it all: the fastest copy there is.
void copy_kernel(const void* x, void* y, std::size_t bytes, const Stream& stream);

void empty_kernel(const Stream& stream);

/// Writes all of `data`, a multiple of 16 bytes, and then reads it.
void write_and_read(void* data, std::size_t bytes, const Stream& stream);

}  // namespace heddle::cuda
