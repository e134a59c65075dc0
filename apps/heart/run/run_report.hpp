// Reports of a run, for people and as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "run_case.hpp"

namespace heddle::heart {

nlohmann::ordered_json to_json(const RunOptions& options, const Outcome& outcome);
void print(const RunOptions& options, const Outcome& outcome);

}  // namespace heddle::heart
