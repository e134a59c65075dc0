// Plans in a few words.
#pragma once

#include <string>
#include <vector>

#include "heddle/plan.hpp"

namespace heddle::report {

/// "C=1", "sigma=1", ... of a text that separates them by commas.
std::vector<std::string> settings_of(const std::string& plan);

/// The settings of a plan's canonical text that differ from the plan CSR, whichever keys plans had
/// when it was written; "CSR" where none does. `parse_plan` takes it.
std::string short_plan(const std::string& canonical);
inline std::string short_plan(const Plan& plan) { return short_plan(to_string(plan)); }

/// Outer, inner and vector layout as Mueller-Roemer et al. (2020, table 2) write them, and what
/// theirs do not have: "Sl-32-SoA-AoS", "pJDS-AoSoA-AoS", "CSR-AoS-AoS, order=rcm".
std::string layout_name(const Plan& plan);

/// "static", "dynamic" or "full".
std::string schedule_name(ScheduleKind schedule);

}  // namespace heddle::report
