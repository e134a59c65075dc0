// One object of a JSON file; each of its faults is reported with the path to it.
#pragma once

#include <limits>
#include <nlohmann/json.hpp>
#include <string>
#include <vector>

namespace heddle::detail {

/// Throws `Error` (malformed_file): "records[3].plan: what".
[[noreturn]] void refuse_json(const std::string& path, const std::string& what);

class JsonObject {
 public:
  /// `path` is empty for a whole file. Refuses a value that is no object. Keeps the reference.
  JsonObject(const nlohmann::json& value, std::string path);

  /// Every key of the object must be one of `known`.
  void check_keys(const std::vector<std::string_view>& known) const;

  const std::string& path() const { return path_; }
  bool has(const char* key) const { return value_.contains(key); }
  std::string path_of(const char* key) const { return path_.empty() ? key : path_ + "." + key; }

  // The value of a key that must be present.
  const nlohmann::json& at(const char* key) const;
  JsonObject object(const char* key) const { return {at(key), path_of(key)}; }
  std::string text(const char* key) const;
  /// One of `values`.
  std::string text_of(const char* key, const std::vector<std::string_view>& values) const;
  std::vector<std::string> texts(const char* key) const;
  bool boolean(const char* key) const;
  /// A number from 0 to `most`.
  long long count(const char* key, long long most = std::numeric_limits<long long>::max()) const;
  /// A finite number that is not negative.
  double number(const char* key) const;
  std::vector<double> numbers(const char* key) const;

  /// `read(object)` for each element of an array of objects.
  template <class F>
  auto objects(const char* key, F&& read) const {
    return each(key, [&](const nlohmann::json& value, const std::string& path) {
      return read(JsonObject(value, path));
    });
  }

  std::string path_of(const char* key, std::size_t i) const {
    return path_of(key) + "[" + std::to_string(i) + "]";
  }

 private:
  /// `read(value, path)` for each element of an array.
  template <class F>
  auto each(const char* key, const F& read) const {
    const nlohmann::json& list = at(key);
    if (!list.is_array()) refuse_json(path_of(key), "must be an array");
    std::vector<decltype(read(list, path_))> found;
    found.reserve(list.size());
    for (const auto& value : list) found.push_back(read(value, path_of(key, found.size())));
    return found;
  }

  const nlohmann::json& value_;
  std::string path_;
};

}  // namespace heddle::detail
