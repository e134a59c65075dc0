#include "multigrid_report.hpp"

#include <cstdio>

#include "heddle/runtime/preconditioner_choice.hpp"
#include "readable.hpp"

namespace heddle::cli {

nlohmann::ordered_json to_json(const MultigridReport& report, StoredScalar level_precision) {
  nlohmann::ordered_json levels = nlohmann::ordered_json::array();
  for (const MultigridLevel& level : report.levels) {
    levels.push_back({{"rows", level.rows},
                      {"entries", level.entries},
                      {"components", level.components},
                      {"scalars", level.scalars},
                      {"largest_eigenvalue", level.largest},
                      {"new_estimates", level.new_estimates},
                      {"strength", level.strength},
                      {"is_solved", level.is_solved},
                      {"colours", level.colours}});
  }
  return {{"levels", levels},
          {"level_precision", name_of_level_precision(level_precision)},
          {"operator_complexity", report.operator_complexity},
          {"setup", report.setup_seconds},
          {"host_memory", report.host_bytes},
          {"device_memory", report.device_bytes},
          {"refresh_memory", report.refresh_bytes}};
}

std::string text_of(const MultigridReport& report, StoredScalar level_precision) {
  std::string text;
  int new_estimates = 0;
  for (const MultigridLevel& level : report.levels) {
    new_estimates += level.new_estimates;
    text += (text.empty() ? "" : ", ") + readable_count(level.rows);
  }
  const bool is_solved = !report.levels.empty() && report.levels.back().is_solved;
  char complexity[32];
  std::snprintf(complexity, sizeof complexity, "%.2f", report.operator_complexity);
  return text + " rows, " +
         (report.is_smoother_alone() ? "nothing was coarsened: each cycle is the smoother alone"
          : is_solved                ? "the last solved exactly"
                                     : "none solved exactly") +
         "; operator complexity " + complexity + ", " +
         readable_bytes(static_cast<double>(report.device_bytes)) + " in addition to A and " +
         readable_bytes(static_cast<double>(report.host_bytes)) + " on the host, set up in " +
         readable_seconds(report.setup_seconds) +
         (report.refresh_bytes > 0
              ? "; new values take " + readable_bytes(static_cast<double>(report.refresh_bytes)) +
                    " on the GPU"
              : "") +
         (level_precision == StoredScalar::single ? ", in floats" : "") +
         (new_estimates > 0 ? "; new values required new estimates of the spectrum, " +
                                  std::to_string(new_estimates) + " on all levels"
                            : "");
}

}  // namespace heddle::cli
