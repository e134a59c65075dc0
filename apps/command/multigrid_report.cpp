#include "multigrid_report.hpp"

#include <cstdio>

#include "readable.hpp"

namespace heddle::cli {

nlohmann::ordered_json to_json(const MultigridReport& report) {
  nlohmann::ordered_json levels = nlohmann::ordered_json::array();
  for (const MultigridLevel& level : report.levels) {
    levels.push_back({{"rows", level.rows},
                      {"entries", level.entries},
                      {"components", level.components},
                      {"largest_eigenvalue", level.largest}});
  }
  return {{"levels", levels},
          {"operator_complexity", report.operator_complexity},
          {"setup", report.setup_seconds}};
}

std::string text_of(const MultigridReport& report) {
  std::string text;
  for (const MultigridLevel& level : report.levels) {
    text += (text.empty() ? "" : ", ") + readable_count(level.rows);
  }
  const bool is_solved = !report.levels.empty() && report.levels.back().largest == 0;
  char complexity[32];
  std::snprintf(complexity, sizeof complexity, "%.2f", report.operator_complexity);
  return text + " rows, " + (is_solved ? "the last solved exactly" : "none solved exactly") +
         "; operator complexity " + complexity + ", set up in " +
         readable_seconds(report.setup_seconds);
}

}  // namespace heddle::cli
