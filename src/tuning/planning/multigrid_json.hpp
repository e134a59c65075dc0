// A profile's multigrid settings for a matrix, as JSON.
#pragma once

#include <nlohmann/json.hpp>

#include "heddle/tuning/profile.hpp"
#include "matrix/definitions/json_object.hpp"

namespace heddle::profile_json {

nlohmann::ordered_json written(const MultigridRecord& record);
MultigridRecord read_multigrid(const detail::JsonObject& object);

}  // namespace heddle::profile_json
