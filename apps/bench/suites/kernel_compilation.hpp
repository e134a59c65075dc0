// How long a GPU's kernel takes to compile, and to come from the disk.
#pragma once

#include <vector>

#include "own_plans.hpp"
#include "suite.hpp"

namespace heddle::bench {

/// Two records, "compile kernel" and "load kernel": of the product's program under each plan, with
/// nothing in the cache on disk, and from there. On a GPU only.
std::vector<Record> kernel_compilation(const Problem& problem, const std::vector<OwnPlan>& plans,
                                       const Device& device);

}  // namespace heddle::bench
