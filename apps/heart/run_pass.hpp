// Passes over vertices, compiled for CPU and GPU in one file.
#pragma once

#include "heddle/device.hpp"
#include "passes.hpp"

namespace heddle::heart {

/// Run by `for_each_on`.
void run(const EndPass& pass, const Stream& stream);
void run(const ProbePass& pass, const Stream& stream);
void run(const SumPass& pass, const Stream& stream);
void run(const ElectrodePass& pass, const Stream& stream);

}  // namespace heddle::heart
