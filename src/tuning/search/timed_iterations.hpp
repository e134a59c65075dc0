// Iterations of a solver, in a form that a race can time.
#pragma once

#include <memory>

#include "heddle/device.hpp"
#include "heddle/tuning/operator_work.hpp"
#include "heddle/tuning/trials.hpp"

namespace heddle {

/// Enough iterations to be timed, and to outweigh the first and last residual of each solve, as far
/// as they go: from an x as good as rounding permits a solve begins again and again.
long long iterations_worth_timing(IterationWork& solver, const Device& device);

/// One of the iterations of solves that all begin the same way, so that all take equally many.
/// `bytes`: read by a product. Caches are warm.
std::unique_ptr<PreparedPlan> timed_iterations(std::shared_ptr<IterationWork> solver,
                                               long long iterations, long long bytes,
                                               const Device& device);

}  // namespace heddle
