// A chosen system is stored, solved, written and reported, wherever its matrix is.
#pragma once

#include <functional>
#include <optional>
#include <string>

#include "placement.hpp"
#include "system_choice.hpp"

namespace heddle::cli {

/// Collective on ranks, which may share `system`. `stored` is called once the matrix is stored and
/// is not read again. Returns the exit status.
int solve_system(const SolveOptions& options, const ChosenSystem& system, Placement& placement,
                 const std::function<void()>& stored);

/// Solves without ranks. Reads the matrix unless it is given. `rank_choice` is the reason for using
/// no ranks, if the options leave that open. Returns the exit status.
int solve_alone(const SolveOptions& given_options, std::optional<ReadMatrix> given = {},
                const std::string& rank_choice = {});

}  // namespace heddle::cli
