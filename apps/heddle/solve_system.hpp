// A system that has been chosen is stored, solved, written and reported, wherever its matrix is.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "placement.hpp"
#include "system_choice.hpp"

namespace heddle::cli {

/// Collective on ranks, which may share `system`. `stored`: what to do once the matrix is stored,
/// and is looked at no more. Returns the exit status.
int solve_system(const SolveOptions& options, const ChosenSystem& system, Placement& placement,
                 const std::function<void()>& stored);

/// Without ranks. Reads the matrix unless it is given. `rank_choice`: why there are no ranks, where
/// the options leave that open. Returns the exit status.
int solve_alone(const SolveOptions& given_options, std::optional<ReadMatrix> given = {},
                const std::string& rank_choice = {});

}  // namespace heddle::cli
