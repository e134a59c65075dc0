// A report as lines for people and as JSON, from one description of its facts.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace heddle::cli {

using Json = nlohmann::ordered_json;

/// The text that printf would write.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

class ReportLines {
 public:
  /// Adds a line that begins with `label`. `facts`: the same facts for the JSON, keys with values.
  void add(const char* label, const std::string& text, const Json& facts = Json::object()) {
    lines_.emplace_back(label, text);
    add(facts);
  }
  /// Adds facts to the JSON alone.
  void add(const Json& facts) { json_.update(facts); }
  /// Adds a table after the lines; its facts are elsewhere in the JSON.
  void append(const std::string& text) { after_ += text; }

  Json& json() { return json_; }
  void print() const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
  std::string after_;
  Json json_ = Json::object();
};

/// Prints the report, or the JSON if `as_json`.
void tell(ReportLines& report, bool as_json, bool is_quiet);

}  // namespace heddle::cli
