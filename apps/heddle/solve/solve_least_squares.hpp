// `heddle solve --solver lsmr`: least squares for matrices of any shape.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "placement.hpp"
#include "system_choice.hpp"

namespace heddle::cli {

/// Throws `Error` (usage) for options that other solvers alone take, or this one alone.
void check_least_squares(const SolveOptions& options);

/// The reason why least squares solve this matrix; none if they do not. Throws like
/// `check_least_squares`.
std::optional<std::string> reason_for_least_squares(const SolveOptions& options,
                                                    const AnyMatrix& matrix);

/// Like `solve_system`, for a system that least squares solve.
int solve_least_squares(const SolveOptions& options, const ChosenSystem& system,
                        Placement& placement, const std::function<void()>& stored);

}  // namespace heddle::cli
