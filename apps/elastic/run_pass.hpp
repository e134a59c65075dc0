// Passes over elements, entries and vertices, by the team of a CPU or as kernels of a GPU.
#pragma once

#include "heddle/device.hpp"
#include "passes.hpp"

namespace heddle::elastic {

/// Calls the pass with every number below its `count`. On a GPU, whose memory its pointers then are
/// of, it is queued and this returns at once.
void run(const ElementPass& pass, const Stream& stream);
void run(const StressPass& pass, const Stream& stream);
void run(const EntryPass& pass, const Stream& stream);
void run(const VertexPass& pass, const Stream& stream);

namespace cuda {
// The same on a GPU; there in builds that have CUDA.
void run(const ElementPass& pass, const Stream& stream);
void run(const StressPass& pass, const Stream& stream);
void run(const EntryPass& pass, const Stream& stream);
void run(const VertexPass& pass, const Stream& stream);
}  // namespace cuda

}  // namespace heddle::elastic
