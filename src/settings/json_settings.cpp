#include "json_settings.hpp"

#include <nlohmann/json.hpp>

#include "heddle/error.hpp"
#include "setting_kinds.hpp"

namespace heddle::detail {

namespace {

[[noreturn]] void refuse(const std::string& why) { throw Error(ErrorKind::usage, why); }

/// A number that is written with a point or a power, 1e3, may be a whole one.
std::string text_of(const nlohmann::json& number) {
  return number.is_number_float() ? text_of_number(number.get<double>()) : number.dump();
}

std::string text_of(const std::string& name, const nlohmann::json& value) {
  if (value.is_string()) return value.get<std::string>();
  if (value.is_boolean()) return value.dump();
  if (value.is_number()) return text_of(value);
  std::string text;
  if (value.is_array()) {
    for (const auto& number : value) {
      if (!number.is_number()) refuse(name + ": its array must hold only numbers");
      text += (text.empty() ? "" : " ") + text_of(number);
    }
  }
  if (text.empty()) refuse(name + " must be a number, a text, true, false, or an array of numbers");
  return text;
}

}  // namespace

std::vector<std::pair<std::string, std::string>> settings_in_json(std::string_view text) {
  const auto object = nlohmann::json::parse(text, nullptr, false);
  if (object.is_discarded()) refuse("settings must be a JSON object, and this is not JSON");
  if (!object.is_object()) refuse("settings must be one JSON object of names and values");
  std::vector<std::pair<std::string, std::string>> settings;
  for (const auto& [name, value] : object.items())
    settings.emplace_back(name, text_of(name, value));
  return settings;
}

}  // namespace heddle::detail
