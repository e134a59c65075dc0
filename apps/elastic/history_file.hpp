// What a run did, step by step, as a table.
#pragma once

#include <string>
#include <vector>

#include "run_case.hpp"

namespace heddle::elastic {

/// As CSV: step, time, iterations, residual, energies.
void write_history(const std::string& path, const std::vector<StepRecord>& steps);

}  // namespace heddle::elastic
