// The groups of a mesh in reports.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "../mesh/mesh_summary.hpp"

namespace heddle::simulation {

nlohmann::ordered_json to_json(const mesh::GroupSize& size);

/// Those of a dimension with their elements, "clamped (8), top (160)", the first eight; "none".
std::string groups_text(std::span<const mesh::GroupSize> groups, int dimension);

}  // namespace heddle::simulation
