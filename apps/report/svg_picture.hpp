// Charts as separate files.
#pragma once

#include <string>

#include "svg_chart.hpp"

namespace heddle::report {

/// The chart as a whole SVG file, on white, with its title and a line of smaller words above it. If
/// no point can be shown, it says so.
std::string picture_of(const Chart& chart, const std::string& words);

}  // namespace heddle::report
