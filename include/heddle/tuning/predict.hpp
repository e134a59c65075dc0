// The plan for a matrix where nothing was measured: a model of the time that a product takes, after
// Kreutzer et al. (2012, section 2.3: bytes over bandwidth), with the ceilings of this device.
#pragma once

#include <vector>

#include "heddle/csr.hpp"
#include "heddle/export.hpp"
#include "heddle/plan.hpp"
#include "heddle/tuning/device_properties.hpp"
#include "heddle/tuning/entry_size.hpp"
#include "heddle/tuning/objective.hpp"

namespace heddle {

/// What nothing on a device is faster than.
struct HEDDLE_EXPORT Ceilings {
  double memory = 0;  // bytes a second, of arrays far larger than caches
  double cache = 0;   // bytes a second, of arrays that stay in the last cache
  double start = 0;   // seconds of a kernel, or a parallel region, that does nothing

  bool operator==(const Ceilings&) const = default;
};

/// By the triad over arrays of both sizes and by `run_nothing`. A second or so.
HEDDLE_EXPORT Ceilings measure_ceilings(const Device& device);
/// Ceilings of devices like it, where none were measured.
HEDDLE_EXPORT Ceilings typical_ceilings(const DeviceProperties& device);

/// Seconds of a product under a plan. Costs a pass over the rows' lengths, and a look at some
/// thousand rows' columns. A model to order layouts by, more than to foretell times: what it knows
/// of strides is from one CPU, and of a GPU's gaps from its sectors (docs/performance-notes.md).
HEDDLE_EXPORT double predicted_seconds(const Plan& plan, const PatternView& pattern,
                                       const EntrySize& entry, const DeviceProperties& device,
                                       const Ceilings& ceilings);

/// Plans for a matrix, best guess first: the rule of `choose_plan`, then other layouts and
/// schedules that the model puts within a few per cent of the best. Takes as long as a few
/// products.
HEDDLE_EXPORT std::vector<Plan> predicted_plans(const PatternView& pattern, const EntrySize& entry,
                                                const DeviceProperties& device,
                                                const Ceilings& ceilings, Objective objective = {});

}  // namespace heddle
