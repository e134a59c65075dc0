// Modes as a file for ParaView.
#pragma once

#include <string>
#include <vector>

#include "modal_analysis.hpp"
#include "model.hpp"

namespace heddle::elastic {

/// Writes the body with one vector per vertex for each mode, `mode_1` having the lowest frequency
/// (.vtu). Throws `Error` (io).
void write_modes(const std::string& path, const Model& model, const std::vector<Mode>& modes);

}  // namespace heddle::elastic
