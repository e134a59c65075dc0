// The subset of JSON Schema (2020-12) that the schemas in docs/ use.
#pragma once

#include <algorithm>
#include <nlohmann/json.hpp>
#include <regex>
#include <set>
#include <stdexcept>
#include <string>
#include <utility>

namespace heddle::test {

class JsonSchema {
 public:
  using json = nlohmann::json;

  explicit JsonSchema(json root) : root_(std::move(root)) {}

  bool accepts(const json& value) const { return accepts(root_, value); }

 private:
  static bool has_type(const json& value, const json& types) {
    if (types.is_array()) {
      return std::any_of(types.begin(), types.end(),
                         [&](const json& type) { return has_type(value, type); });
    }
    const auto type = types.get<std::string>();
    if (type == "null") return value.is_null();
    if (type == "object") return value.is_object();
    if (type == "array") return value.is_array();
    if (type == "string") return value.is_string();
    if (type == "integer") return value.is_number_integer();
    if (type == "number") return value.is_number();
    throw std::invalid_argument("a type that this reader of schemas does not know: " + type);
  }

  bool accepts(const json& part, const json& value) const {
    for (const auto& [keyword, wanted] : part.items()) {
      if (!obeys(keyword, wanted, part, value)) return false;
    }
    return true;
  }

  bool obeys(const std::string& keyword, const json& wanted, const json& part,
             const json& value) const {
    if (keyword == "$ref") {
      return accepts(root_.at(json::json_pointer(wanted.get<std::string>().substr(1))), value);
    }
    if (keyword == "const") return value == wanted;
    if (keyword == "enum") return std::find(wanted.begin(), wanted.end(), value) != wanted.end();
    if (keyword == "type") return has_type(value, wanted);
    if (keyword == "minimum") return !value.is_number() || value >= wanted;
    if (keyword == "maximum") return !value.is_number() || value <= wanted;
    if (keyword == "exclusiveMinimum") return !value.is_number() || value > wanted;
    if (keyword == "exclusiveMaximum") return !value.is_number() || value < wanted;
    if (keyword == "minItems") return !value.is_array() || value.size() >= wanted;
    if (keyword == "maxItems") return !value.is_array() || value.size() <= wanted;
    if (keyword == "minLength") {
      return !value.is_string() || value.get<std::string>().size() >= wanted.get<std::size_t>();
    }
    if (keyword == "pattern") {
      return !value.is_string() ||
             std::regex_search(value.get<std::string>(), std::regex(wanted.get<std::string>()));
    }
    if (keyword == "oneOf") {
      const auto matches = [&](const json& one) { return accepts(one, value); };
      return std::count_if(wanted.begin(), wanted.end(), matches) == 1;
    }
    if (keyword == "items") {
      return !value.is_array() || std::all_of(value.begin(), value.end(), [&](const json& item) {
        return accepts(wanted, item);
      });
    }
    if (keyword == "required") {
      return !value.is_object() || std::all_of(wanted.begin(), wanted.end(), [&](const json& key) {
        return value.contains(key.get<std::string>());
      });
    }
    if (keyword == "dependentRequired") {
      for (const auto& [key, others] : wanted.items()) {
        if (!value.is_object() || !value.contains(key)) continue;
        for (const json& other : others) {
          if (!value.contains(other.get<std::string>())) return false;
        }
      }
      return true;
    }
    if (keyword == "properties") {
      if (!value.is_object()) return true;
      for (const auto& [key, inner] : value.items()) {
        if (wanted.contains(key) && !accepts(wanted[key], inner)) return false;
      }
      return true;
    }
    if (keyword == "additionalProperties") {
      if (!value.is_object() || wanted == true) return true;
      for (const auto& [key, inner] : value.items()) {
        const bool is_named = part.contains("properties") && part["properties"].contains(key);
        if (!is_named && (wanted == false || !accepts(wanted, inner))) return false;
      }
      return true;
    }
    static const std::set<std::string> says_nothing = {"$schema", "title", "description", "$defs"};
    if (says_nothing.contains(keyword)) return true;
    throw std::invalid_argument("a keyword that this reader of schemas does not know: " + keyword);
  }

  json root_;
};

}  // namespace heddle::test
