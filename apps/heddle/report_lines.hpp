// A report as lines for people and as JSON, from one description of its facts.
#pragma once

#include <nlohmann/json.hpp>
#include <string>
#include <utility>
#include <vector>

namespace heddle::cli {

using Json = nlohmann::ordered_json;

/// The text that printf writes.
[[gnu::format(printf, 1, 2)]] std::string formatted(const char* format, ...);

class ReportLines {
 public:
  /// A line that begins with `label`. `facts`: what the JSON has of it, keys with their values.
  void add(const char* label, const std::string& text, const Json& facts = Json::object()) {
    lines_.emplace_back(label, text);
    add(facts);
  }
  /// In the JSON alone.
  void add(const Json& facts) { json_.update(facts); }
  /// A table after the lines, which the JSON has elsewhere.
  void append(const std::string& text) { after_ += text; }

  Json& json() { return json_; }
  void print() const;

 private:
  std::vector<std::pair<std::string, std::string>> lines_;
  std::string after_;
  Json json_ = Json::object();
};

/// Prints the report, or with `as_json` the JSON.
void tell(ReportLines& report, bool as_json, bool is_quiet);

}  // namespace heddle::cli
