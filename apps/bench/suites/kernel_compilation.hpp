// Times for compiling a GPU's kernel, and for loading it from disk.
#pragma once

#include <vector>

#include "own_plans.hpp"
#include "suite.hpp"

namespace heddle::bench {

/// Two records, "compile kernel" and "load kernel", for the product's program under each plan: with
/// nothing in the disk cache, and from that cache. On a GPU only.
std::vector<Record> kernel_compilation(const Problem& problem, const std::vector<OwnPlan>& plans,
                                       const Device& device);

}  // namespace heddle::bench
