// What trials of plans do on a GPU.
#pragma once

#include <memory>

#include "heddle/tuning/operator_work.hpp"
#include "heddle/tuning/trials.hpp"
#include "plan_kernels.hpp"

namespace heddle::cuda {

/// A product under a plan, timed by replays of a graph. Keeps `product`, and `matrix` for it.
std::unique_ptr<PreparedPlan> replayed_product(const AnyOperator& matrix,
                                               std::unique_ptr<ProductWork> product,
                                               const Device& device);

KernelTarget kernel_target(const Device& device);

/// Compiles, or finds in the cache, and loads.
void make_ready(const KernelSource& source, const Device& device);

}  // namespace heddle::cuda
