// Amounts for people: 1234567 -> "1 234 567", bytes in binary units, seconds in a fitting unit.
#pragma once

#include <string>

#include "heddle/report.hpp"

namespace heddle::cli {

std::string readable_count(long long count);
std::string readable_bytes(double bytes);
std::string readable_seconds(double seconds);
/// A time with its share for each iteration: "9.47 s (14.11 ms an iteration)".
std::string readable_iterations(double seconds, long long iterations);
/// "iteration 12, residual 1.0e-03"; `what`: the quantity that the solve reduces.
std::string readable_iteration(const SolveProgress& now, const char* what = "residual");
/// Approximate time of the remaining work: "90 s", "3 min".
std::string readable_minutes(double seconds);

}  // namespace heddle::cli
