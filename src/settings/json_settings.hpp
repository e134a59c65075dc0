// Names and values of settings in a JSON object.
#pragma once

#include <string>
#include <string_view>
#include <utility>
#include <vector>

#include "heddle/export.hpp"

namespace heddle::detail {

/// The values as texts, numbers of an array with blanks between them. Throws `Error` (usage) for a
/// text that is no JSON object of numbers, texts, true, false and arrays of numbers.
HEDDLE_EXPORT std::vector<std::pair<std::string, std::string>> settings_in_json(
    std::string_view text);

}  // namespace heddle::detail
