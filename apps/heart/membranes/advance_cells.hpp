// A step of all cells of a group: on a CPU by groups of lanes, on a GPU by one kernel.
#pragma once

#include "cells.hpp"
#include "heddle/device.hpp"
#include "models.hpp"

namespace heddle::heart {

/// Uses the threads of the stream; returns when the step is done. A cell's bits depend on its own
/// numbers only, not on its neighbours, its place or the number of threads.
void advance_on_cpu(const AnyModel& model, const CellData& cells, const Stream& stream);
/// Queues one kernel. Throws `Error` (unsupported) in builds without CUDA.
void advance_on_gpu(const AnyModel& model, const CellData& cells, const Stream& stream);

}  // namespace heddle::heart
