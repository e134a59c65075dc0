// One object of a case file, read strictly: errors are reported with the file and the path in it.
#pragma once

#include <initializer_list>
#include <limits>
#include <nlohmann/json.hpp>
#include <string>

#include "heddle/tools/points.hpp"

namespace heddle::simulation {

/// Range of numbers allowed for a key.
struct Range {
  double least = -std::numeric_limits<double>::max();
  double most = std::numeric_limits<double>::max();
  bool min_is_in = true;
  bool max_is_in = true;

  bool holds(double value) const;
  std::string text() const;  // "above 0", "at least 0 and below 0.5"
};
inline constexpr double unbounded = std::numeric_limits<double>::max();

class CaseObject {
 public:
  /// `path` is empty for the whole file. Keeps the reference to the value.
  CaseObject(const nlohmann::json& value, std::string file, std::string path);

  const std::string& path() const { return path_; }
  bool has(const char* key) const { return value_.contains(key); }

  /// Throws for a key that is none of these, suggesting the nearest of them or listing all.
  void check_keys(std::initializer_list<const char*> known) const;

  // The value of a key, which must be present.
  CaseObject object(const char* key) const;
  double number(const char* key, const Range& range = {}) const;
  long long count(const char* key, long long least, long long most = 1'000'000'000) const;
  Point point(const char* key) const;
  std::string text_of(const char* key, std::initializer_list<const char*> values) const;
  const nlohmann::json& at(const char* key) const;

  /// Calls `read(object)` for each object of an array, which may be absent.
  template <class F>
  void each(const char* key, const F& read) const {
    if (!has(key)) return;
    const nlohmann::json& list = at(key);
    if (!list.is_array()) refuse(path_of(key), "must be an array");
    for (std::size_t i = 0; i < list.size(); ++i) {
      read(CaseObject(list[i], file_, path_of(key) + "[" + std::to_string(i) + "]"));
    }
  }

  std::string path_of(const std::string& key) const {
    return path_.empty() ? key : path_ + "." + key;
  }
  /// Throws `Error` (malformed_file): "file: path what".
  [[noreturn]] void refuse(const std::string& path, const std::string& what) const;

 private:
  const nlohmann::json& value_;
  std::string file_;
  std::string path_;
};

}  // namespace heddle::simulation
