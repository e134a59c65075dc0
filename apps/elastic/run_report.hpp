// What a run tells of itself, to people and to programs.
#pragma once

#include <nlohmann/json.hpp>

#include "run_case.hpp"

namespace heddle::elastic {

nlohmann::ordered_json to_json(const RunOptions& options, const Outcome& outcome);
/// On standard output.
void print(const RunOptions& options, const Outcome& outcome);

}  // namespace heddle::elastic
