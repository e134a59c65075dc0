// What a run tells of itself, to people and to programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "run_case.hpp"

namespace heddle::elastic {

/// How near systems came whose rounding left the tolerance out of reach; empty where there are
/// none.
std::string accuracy_text(const Outcome& outcome);
nlohmann::ordered_json to_json(const RunOptions& options, const Outcome& outcome);
/// On standard output.
void print(const RunOptions& options, const Outcome& outcome);

}  // namespace heddle::elastic
