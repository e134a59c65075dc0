// Parts that the JSON reports of programs share.
#pragma once

#include <nlohmann/json.hpp>
#include <span>
#include <string>

#include "heddle/device.hpp"
#include "heddle/runtime/settings.hpp"

namespace heddle::cli {

/// The first keys of a report: program, version, commit, date, command, host.
nlohmann::ordered_json begin_report();
/// The last keys of a report on a matrix that has a file and a device: these two, and the keys
/// above.
void add_provenance(nlohmann::ordered_json& json, const std::string& file, const Device& device);

/// The settings of these uses that were given.
nlohmann::ordered_json json_of(const Settings& settings, std::span<const SettingUse> uses);

/// The number, or null if it is not finite: JSON has no word for that.
nlohmann::ordered_json number_or_null(double value);

/// Indented, and valid JSON in any case: bytes of a name that are not UTF-8 are replaced.
std::string text_of(const nlohmann::ordered_json& report, int indent = 2);

}  // namespace heddle::cli
