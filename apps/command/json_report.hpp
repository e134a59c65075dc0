// What the JSON reports of programs share.
#pragma once

#include <nlohmann/json.hpp>
#include <string>

namespace heddle::cli {

/// The first keys of a report: program, commit, date, command.
nlohmann::ordered_json begin_report();

/// JSON has no word for what is not finite: null.
nlohmann::ordered_json number_or_null(double value);

/// Indented, and JSON whatever is in it: bytes of a name that are not UTF-8 are replaced.
std::string text_of(const nlohmann::ordered_json& report, int indent = 2);

}  // namespace heddle::cli
