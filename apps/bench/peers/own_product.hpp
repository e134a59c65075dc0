// Heddle's own product of a problem under a plan, with everything prepared.
#pragma once

#include <functional>
#include <vector>

#include "heddle/plan.hpp"
#include "problems/problem.hpp"

namespace heddle::bench {

struct OwnProduct {
  /// Queues it once more, in the basis and layout of the plan, as solvers do.
  std::function<void(const Stream&)> queue;
  /// y of the last run, in the user's order.
  std::function<std::vector<double>()> result;
  long long memory_bytes = 0;  // that it reads of the matrix
};

/// Throws `Error` where the plan does not suit the matrix or the memory does not suffice.
OwnProduct own_product(const Problem& problem, const Plan& plan, const Device& device);

}  // namespace heddle::bench
