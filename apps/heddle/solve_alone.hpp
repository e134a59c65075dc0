// A solve without ranks.
#pragma once

#include <optional>
#include <string>

#include "solve_options.hpp"

namespace heddle::cli {

struct ReadMatrix {
  AnyMatrix matrix;
  double seconds = 0;  // that reading took
};

/// Reads the matrix unless it is given. `rank_choice`: why there are no ranks, where the options
/// leave that open. Returns the exit status.
int solve_alone(const SolveOptions& options, std::optional<ReadMatrix> read = {},
                const std::string& rank_choice = {});

}  // namespace heddle::cli
