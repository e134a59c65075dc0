// Parts of reports that describe a multigrid.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "heddle/multigrid.hpp"

namespace heddle::cli {

nlohmann::ordered_json to_json(const MultigridReport& report, StoredScalar level_precision);
/// The same description as a line of text.
std::string text_of(const MultigridReport& report, StoredScalar level_precision);

}  // namespace heddle::cli
