// What suites of solves share: tolerances, and the time of an iteration.
#pragma once

#include "interleave.hpp"
#include "suite.hpp"

namespace heddle::bench {

/// What a solve may reach: recurrences in floats drift away from |b - A x| by some 1e-4 for the
/// problems here.
double tolerance_for(const Problem& problem, const Settings& settings);

/// A residual as a tolerance, of one digit.
double rounded_up(double residual);

/// The time of an iteration, as the difference of short and long solves over the iterations that
/// lie between them; a failure where none can be told.
void take_difference(const Interleaved& short_ones, const Interleaved& long_ones, double iterations,
                     Candidate& candidate);

}  // namespace heddle::bench
