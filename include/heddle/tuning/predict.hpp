// Predicts the plan for a matrix without measurements: a model of the time of a product, after
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

/// Upper bounds of the device.
struct HEDDLE_EXPORT Ceilings {
  double memory = 0;  // bytes per second, for arrays far larger than caches
  double cache = 0;   // bytes per second, for arrays that stay in the last cache
  double start = 0;   // seconds of an empty kernel, or parallel region

  bool operator==(const Ceilings&) const = default;
};

/// Measures the triad over arrays of both sizes and `run_nothing`, in about a second.
HEDDLE_EXPORT Ceilings measure_ceilings(const Device& device);
/// Typical ceilings of similar devices, without a measurement.
HEDDLE_EXPORT Ceilings typical_ceilings(const DeviceProperties& device);

/// Seconds of a product under a plan. Takes a pass over the rows' lengths, and the columns of some
/// thousand rows. The model is better at ordering layouts than at absolute times: its factor for
/// strides is from one CPU, its factor for a GPU's gaps from the GPU's sectors
/// (docs/inside/tried.md).
HEDDLE_EXPORT double predicted_seconds(const Plan& plan, const PatternView& pattern,
                                       const EntrySize& entry, const DeviceProperties& device,
                                       const Ceilings& ceilings);

/// Plans for a matrix, best guess first: the rule of `choose_plan`, then other layouts and
/// schedules that the model places within a few percent of the best. Takes as long as a few
/// products.
HEDDLE_EXPORT std::vector<Plan> predicted_plans(const PatternView& pattern, const EntrySize& entry,
                                                const DeviceProperties& device,
                                                const Ceilings& ceilings, Objective objective = {});

}  // namespace heddle
