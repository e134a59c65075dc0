// A case file as JSON.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace heddle::simulation {

/// `path` is for messages. Throws `Error` (malformed_file) for text that is not JSON, for a key
/// that occurs twice in an object, since one would be lost, and for more than 16 levels.
nlohmann::json parse_case_json(const std::string& text, const std::string& path);

}  // namespace heddle::simulation
