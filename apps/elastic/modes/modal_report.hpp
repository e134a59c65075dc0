// The report of the modes that a run found.
#pragma once

#include <nlohmann/json.hpp>

#include "modal_analysis.hpp"

namespace heddle::elastic {

/// Adds `detail` if the solve has one, `rigid_motions` and `modes`.
void add_modes(const Modes& found, nlohmann::ordered_json& json);
/// Prints to standard output.
void print_modes(const Modes& found, double tolerance);

}  // namespace heddle::elastic
