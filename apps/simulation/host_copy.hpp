// Asynchronous copies from a GPU into pinned memory of the host; only in builds with CUDA.
#pragma once

#include <cstddef>

#include "heddle/device.hpp"

struct CUevent_st;  // the type that a cudaEvent_t points to

namespace heddle::simulation::cuda {

double* allocate_pinned(std::size_t numbers, const Stream& stream);
void free_pinned(double* data);
/// Queues the copy.
void copy_to_host(double* to, const double* from, std::size_t numbers, const Stream& stream);

CUevent_st* make_event(const Stream& stream);
void free_event(CUevent_st* event);
/// The event occurs when the stream has completed the work queued so far.
void record(CUevent_st* event, const Stream& stream);
/// May be called by any thread.
void wait_for(CUevent_st* event, const Stream& stream);

}  // namespace heddle::simulation::cuda
