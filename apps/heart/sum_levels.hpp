// Sums in fixed trees, queued on a device: those of electrodes, and of a residual's squares.
#pragma once

#include <vector>

#include "heddle/array.hpp"
#include "heddle/device.hpp"
#include "heddle/entries/slots.hpp"

namespace heddle::heart {

/// Room for `sums` sums of `terms` terms each: the last level has the sums.
std::vector<Array<double>> sum_levels(Offset sums, Offset terms, const Device& device);

/// Sums of weight[s * terms + k] term[k]; returns their address in the device's memory.
const double* queue_sums(const double* weight, const double* term, Offset terms, Offset sums,
                         std::vector<Array<double>>& levels, const Stream& stream);

}  // namespace heddle::heart
