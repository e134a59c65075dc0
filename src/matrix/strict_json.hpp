// JSON as configuration files need it: no key twice, little nesting, one-line errors.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace heddle::detail {

/// Throws `Error` (malformed_file) without the file's name.
nlohmann::json parse_strict_json(std::string_view text, int most_levels);

/// All that a file holds. Throws `Error` (io) with its name.
std::string text_of_file(const std::string& path);

}  // namespace heddle::detail
