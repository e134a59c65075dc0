// What a run tells of the modes that it found.
#pragma once

#include <nlohmann/json.hpp>

#include "modal_analysis.hpp"

namespace heddle::elastic {

/// `detail` where the solve has one, `rigid_motions` and `modes`.
void add_modes(const Modes& found, nlohmann::ordered_json& json);
/// On standard output.
void print_modes(const Modes& found, double tolerance);

}  // namespace heddle::elastic
