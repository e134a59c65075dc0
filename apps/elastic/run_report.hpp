// The report of a run, for people and for programs.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "run_case.hpp"

namespace heddle::elastic {

/// How close the systems came whose tolerance rounding made unreachable; empty if there are none.
std::string accuracy_text(const Outcome& outcome);
nlohmann::ordered_json to_json(const RunOptions& options, const Outcome& outcome);
/// Prints to standard output.
void print(const RunOptions& options, const Outcome& outcome);

}  // namespace heddle::elastic
