// What the simulations measured of themselves, for the page of results.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace heddle::bench {

struct NamedReport {
  std::string path;  // for messages
  nlohmann::json report;
};

/// Tables of reports that `heddle-spin --json`, `heddle-elastic --json` and `heddle-heart --json`
/// wrote. Throws `Error` (usage) for a report of none of them.
std::string simulations_section(const std::vector<NamedReport>& reports);

}  // namespace heddle::bench
