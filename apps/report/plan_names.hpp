// Plans in a few words.
#pragma once

#include <string>
#include <vector>

#include "heddle/plan.hpp"

namespace heddle::report {

/// "C=1", "sigma=1", ... of a text that separates them by commas.
std::vector<std::string> settings_of(const std::string& plan);

/// The canonical text of a plan's text, of earlier versions too; one with unknown keys as it is.
std::string short_plan(const std::string& full);

/// Outer, inner and vector layout as Mueller-Roemer et al. (2020, table 2) write them, and what
/// theirs do not have: "Sl-32-SoA-AoS", "pJDS-AoSoA-AoS", "CSR-AoS-AoS, order=rcm".
std::string layout_name(const Plan& plan);

/// "static", "dynamic" or "full".
std::string schedule_name(ScheduleKind schedule);

}  // namespace heddle::report
