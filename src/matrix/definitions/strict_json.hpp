// JSON as configuration files need it: no key twice, little nesting, one-line errors.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <string_view>

namespace heddle::detail {

/// Throws `Error` (malformed_file) without the file's name.
nlohmann::json parse_strict_json(std::string_view text, int max_levels);

/// The most bytes of a JSON file, 16 MiB: a larger or endless one is not meant for Heddle.
inline constexpr std::size_t max_json_bytes = std::size_t(1) << 24;

/// The whole text of a JSON file. Throws `Error` with the file's name: io; malformed_file for a
/// file of more than `most` bytes, of which no more are read.
std::string text_of_file(const std::string& path, std::size_t most = max_json_bytes);

}  // namespace heddle::detail
