// The measured device as JSON of a profile, and the helpers shared by all parts of a profile.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "heddle/tuning/device_properties.hpp"
#include "heddle/tuning/predict.hpp"
#include "heddle/tuning/profile.hpp"
#include "matrix/definitions/json_object.hpp"

namespace heddle::profile_json {

inline constexpr long long max_count = std::numeric_limits<int>::max();

/// Names come from files, and need not be UTF-8.
nlohmann::ordered_json text(const std::string& bytes);
/// Throws `Error` (not_finite), which names `what`.
nlohmann::ordered_json number(double value, const char* what);

nlohmann::ordered_json written(const DeviceProperties& device);
nlohmann::ordered_json written(const Ceilings& ceilings);
DeviceProperties read_device(const detail::JsonObject& object);
Ceilings read_ceilings(const detail::JsonObject& object);

nlohmann::ordered_json written(const Statistics& seconds);
nlohmann::ordered_json written(const PatternFeatures& features);
Statistics read_statistics(const detail::JsonObject& object);
PatternFeatures read_features(const detail::JsonObject& object);
/// The name; it must not be empty.
std::string name_of(const detail::JsonObject& object, const char* key);
std::string date_of(const detail::JsonObject& object);
void check_fingerprint(const std::string& digits, const std::string& path);

}  // namespace heddle::profile_json
