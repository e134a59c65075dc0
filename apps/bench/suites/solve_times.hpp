// Shared by suites of solves: tolerances, and the time of an iteration.
#pragma once

#include "interleave.hpp"
#include "suite.hpp"

namespace heddle::bench {

/// The tolerance that a solve can reach: recurrences in floats drift from |b - A x| by some 1e-4
/// for the problems here.
double tolerance_for(const Problem& problem, const Settings& settings);

/// Rounds a residual up to one digit, for use as a tolerance.
double rounded_up(double residual);

/// The time of an iteration: the difference between long and short solves over the difference in
/// iterations; a failure where the machine was too noisy.
void take_difference(const Interleaved& short_ones, const Interleaved& long_ones, double iterations,
                     Candidate& candidate);

}  // namespace heddle::bench
