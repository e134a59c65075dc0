// Measurements that the simulations report of themselves, for the page of results.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace heddle::bench {

struct NamedReport {
  std::string path;  // for messages
  nlohmann::json report;
};

/// Tables of the reports that `heddle-spin --json`, `heddle-elastic --json` and `heddle-heart
/// --json` write. Throws `Error` (usage) for a report of any other program.
std::string simulations_section(const std::vector<NamedReport>& reports);

}  // namespace heddle::bench
