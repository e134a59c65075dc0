// The multigrid settings that were found, as a table and as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>
#include <vector>

#include "heddle/tuning/multigrid_record.hpp"

namespace heddle::tuning {

void print_multigrids(const std::vector<MultigridRecord>& records, const std::string& device,
                      std::ostream& out);
nlohmann::ordered_json multigrids_json(const std::vector<MultigridRecord>& records,
                                       const std::string& device);

}  // namespace heddle::tuning
