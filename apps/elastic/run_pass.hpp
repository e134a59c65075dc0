// Passes over elements, entries and vertices, compiled for CPU and GPU in one file.
#pragma once

#include "heddle/device.hpp"
#include "passes.hpp"

namespace heddle::elastic {

/// `for_each_on`.
void run(const ElementPass& pass, const Stream& stream);
void run(const StressPass& pass, const Stream& stream);
void run(const EntryPass& pass, const Stream& stream);
void run(const VertexPass& pass, const Stream& stream);

}  // namespace heddle::elastic
