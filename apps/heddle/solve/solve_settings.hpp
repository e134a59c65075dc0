// Settings of a solve made from its options, however its matrix is stored.
#pragma once

#include <cstddef>

#include "solve_options.hpp"
#include "solve_watch.hpp"

namespace heddle::cli {

/// Reports errors in the options before a long read and a longer solve.
void check(const SolveOptions& options, const Device& device);
/// Throws `Error` (usage) if the named solver does not take this number of right-hand sides.
void check_block_columns(const SolveOptions& options, std::size_t right_hand_sides);
void check_square(const AnyMatrix& matrix, const SolveOptions& options);

double tolerance_of(const SolveOptions& options, Precision precision);
SolverOptions settings_of(const SolveOptions& options, SolveWatch& watch);

}  // namespace heddle::cli
