// Checks that every model problem makes of its arguments before it begins.
#pragma once

#include <string>

#include "heddle/problems.hpp"

namespace heddle::problems {

/// Throws ErrorKind::usage for a size outside 1 .. largest_problem.
void check_size(const std::string& problem, Index size);

/// Throws ErrorKind::usage unless low <= value <= high (false for NaN).
void check_option(const std::string& problem, const std::string& option, double value, double low,
                  double high);

/// Throws ErrorKind::memory if `rows` rows of this many bytes would not fit.
void check_memory(const std::string& problem, Index rows, double bytes_per_row);

}  // namespace heddle::problems
