// `heddle solve --solver lsmr`: least squares, of matrices of any shape.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "placement.hpp"
#include "system_choice.hpp"

namespace heddle::cli {

/// Throws `Error` (usage) for options that go with other solvers only, or with this one only.
void check_least_squares(const SolveOptions& options);

/// Why this matrix is solved so; none where it is not. Throws as `check_least_squares`.
std::optional<std::string> reason_for_least_squares(const SolveOptions& options,
                                                    const AnyMatrix& matrix);

/// The same as `solve_system`, for a system that least squares solve.
int solve_least_squares(const SolveOptions& options, const ChosenSystem& system,
                        Placement& placement, const std::function<void()>& stored);

}  // namespace heddle::cli
