// `heddle solve --ranks N`, and `heddle-mpi solve`.
#pragma once

#include "heddle/communicator.hpp"
#include "solve_options.hpp"

namespace heddle::cli {

/// Uses ranks that are threads of this process. Returns the exit status.
int solve_on_ranks(const SolveOptions& options);
/// Uses the given ranks, all of which call. Rank 0 reports.
int solve_on_ranks(const SolveOptions& options, Communicator& ranks);

}  // namespace heddle::cli
