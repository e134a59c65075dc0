// Plans in a few words.
#pragma once

#include <string>
#include <vector>

#include "heddle/plan.hpp"

namespace heddle::report {

/// "C=1", "sigma=1", ... from a text that separates them by commas.
std::vector<std::string> settings_of(const std::string& plan);

/// The canonical form of a plan's text, also of earlier versions; unchanged if keys are unknown.
std::string short_plan(const std::string& full);

/// Outer, inner and vector layout as Mueller-Roemer et al. (2020, table 2) write them, plus
/// settings that theirs do not have: "Sl-32-SoA-AoS", "pJDS-AoSoA-AoS", "CSR-AoS-AoS, order=rcm".
std::string layout_name(const Plan& plan);

/// "static", "dynamic" or "full".
std::string schedule_name(ScheduleKind schedule);

}  // namespace heddle::report
