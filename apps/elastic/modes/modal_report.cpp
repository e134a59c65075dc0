#include "modal_report.hpp"

#include <cstdio>
#include <string>

#include "../command/json_report.hpp"
#include "../command/readable.hpp"

namespace heddle::elastic {

using cli::number_or_null;
using nlohmann::ordered_json;

void add_modes(const Modes& found, ordered_json& json) {
  if (!found.solve.detail.empty()) json["detail"] = found.solve.detail;
  json["rigid_motions"] = found.rigid_motions;
  json["modes"] = ordered_json::array();
  for (const Mode& mode : found.modes) {
    json["modes"].push_back({{"frequency", number_or_null(mode.frequency)},
                             {"frequency_error", number_or_null(mode.frequency_error)},
                             {"backward_error", number_or_null(mode.backward_error)}});
  }
}

void print_modes(const Modes& found, double tolerance) {
  const EigenReport& solve = found.solve;
  const std::string detail = solve.detail.empty() ? "" : " (" + std::string(solve.detail) + ")";
  std::printf("status     %s%s after %s iterations of LOBPCG\n",
              std::string(name(solve.status)).c_str(), detail.c_str(),
              cli::readable_count(solve.iterations).c_str());
  std::printf("backward   error |K x - M x omega^2| / ((|K| + omega^2 |M|) |x|), asked for %.1e\n",
              tolerance);
  if (found.rigid_motions > 0) {
    std::printf(
        "rigid      %d motions of frequency 0, which nothing prevents; not among the modes\n",
        found.rigid_motions);
  }
  if (found.modes.empty()) return;
  std::printf("\nmode  frequency               error about  backward error\n");
  int number = 0;
  for (const Mode& mode : found.modes) {
    std::printf("%4d  %-22.10g  %-11.1e  %.1e\n", ++number, mode.frequency, mode.frequency_error,
                mode.backward_error);
  }
  std::printf("\n");
}

}  // namespace heddle::elastic
