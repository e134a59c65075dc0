#include "json_object.hpp"

#include <algorithm>
#include <cmath>
#include <cstdint>
#include <utility>

#include "heddle/error.hpp"
#include "heddle/tools/text.hpp"

namespace heddle::detail {

using nlohmann::json;

namespace {

std::string text_in(const json& value, const std::string& path) {
  if (!value.is_string()) refuse_json(path, "must be a string");
  return value.get<std::string>();
}

double number_in(const json& value, const std::string& path) {
  if (!value.is_number()) refuse_json(path, "must be a number");
  const auto number = value.get<double>();
  if (!std::isfinite(number) || number < 0) {
    refuse_json(path, "must be a finite number, not negative");
  }
  return number;
}

using Words = std::vector<std::string_view>;

std::string listed(const Words& words) {
  std::string list;
  for (const std::string_view word : words) list += " " + std::string(word);
  return list;
}

bool holds(const Words& words, const std::string& wanted) {
  return std::find(words.begin(), words.end(), wanted) != words.end();
}

}  // namespace

void refuse_json(const std::string& path, const std::string& what) {
  throw Error(ErrorKind::malformed_file, path.empty() ? what : path + ": " + what);
}

JsonObject::JsonObject(const json& value, std::string path)
    : value_(value), path_(std::move(path)) {
  if (!value.is_object()) refuse_json(path_, "must be an object");
}

void JsonObject::check_keys(const Words& known) const {
  for (const auto& [key, value] : value_.items()) {
    if (holds(known, key)) continue;
    refuse_json(path_, io::in_quotes(key) + ": no such key; there are" + listed(known));
  }
}

const json& JsonObject::at(const char* key) const {
  if (!has(key)) refuse_json(path_of(key), "is missing");
  return value_[key];
}

std::string JsonObject::text(const char* key) const { return text_in(at(key), path_of(key)); }

std::string JsonObject::text_of(const char* key, const Words& values) const {
  const std::string found = text(key);
  if (!holds(values, found)) {
    refuse_json(path_of(key), io::in_quotes(found) + " is none of" + listed(values));
  }
  return found;
}

std::vector<std::string> JsonObject::texts(const char* key) const { return each(key, text_in); }

bool JsonObject::boolean(const char* key) const {
  if (!at(key).is_boolean()) refuse_json(path_of(key), "must be true or false");
  return at(key).get<bool>();
}

long long JsonObject::count(const char* key, long long most) const {
  const json& value = at(key);
  const bool whole = value.is_number_integer();
  if (!whole || (!value.is_number_unsigned() && value.get<std::int64_t>() < 0)) {
    refuse_json(path_of(key), "must be an integer, not negative");
  }
  if (value.get<std::uint64_t>() > static_cast<std::uint64_t>(most)) {
    refuse_json(path_of(key), "is too large");
  }
  return value.get<long long>();
}

double JsonObject::number(const char* key) const { return number_in(at(key), path_of(key)); }

std::vector<double> JsonObject::numbers(const char* key) const { return each(key, number_in); }

}  // namespace heddle::detail
