// What reports say of a multigrid.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

#include "heddle/multigrid.hpp"

namespace heddle::cli {

nlohmann::ordered_json to_json(const MultigridReport& report);
/// The same as a line.
std::string text_of(const MultigridReport& report);

}  // namespace heddle::cli
