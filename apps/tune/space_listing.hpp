// The plans that a search considers, in readable form.
#pragma once

#include <nlohmann/json.hpp>
#include <ostream>
#include <string>

#include "heddle/tuning/search_space.hpp"

namespace heddle::tuning {

/// Both spaces of a subject on a device: axes, their choices, and the number of plans. `matrix`
/// describes the subject in words.
void print_spaces(const TuningSubject& subject, const DeviceProperties& device,
                  const std::string& matrix, std::ostream& out);
nlohmann::ordered_json spaces_json(const TuningSubject& subject, const DeviceProperties& device,
                                   const std::string& matrix);

}  // namespace heddle::tuning
