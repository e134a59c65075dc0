#include "case_json.hpp"

#include <set>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/tools/text.hpp"
#include "message_text.hpp"

namespace heddle::simulation {

using nlohmann::json;

namespace {

/// Refuses a key that occurs twice in an object, since one of the two would be lost.
class KeysOnce {
 public:
  explicit KeysOnce(const std::string& path) : path_(path) {}

  bool operator()(json::parse_event_t event, const json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        if (seen_.size() == max_levels) refuse("is nested too deeply");
        seen_.emplace_back();
        break;
      case json::parse_event_t::object_end:
      case json::parse_event_t::array_end:
        seen_.pop_back();
        break;
      case json::parse_event_t::key:
        if (const auto key = parsed.get<std::string>(); !seen_.back().insert(key).second) {
          refuse("has the key " + printable(key) + " twice in one object");
        }
        break;
      default:
        break;
    }
    return true;
  }

 private:
  static constexpr std::size_t max_levels = 16;

  [[noreturn]] void refuse(const std::string& what) const {
    throw Error(ErrorKind::malformed_file, path_ + ": the file " + what);
  }

  const std::string& path_;
  std::vector<std::set<std::string>> seen_;
};

}  // namespace

json parse_case_json(const std::string& text, const std::string& path) {
  KeysOnce keys_once(path);
  try {
    return json::parse(text, [&](int, json::parse_event_t event, json& parsed) {
      return keys_once(event, parsed);
    });
  } catch (const json::exception& error) {
    // "[json.exception.parse_error.101] parse error at line 1, column 2: ..."
    const std::string what = error.what();
    const std::size_t at = what.find("line ");
    constexpr std::size_t longest = 300;
    throw Error(ErrorKind::malformed_file,
                path + ": not valid JSON: " +
                    io::printable(what.substr(at == std::string::npos ? 0 : at, longest)));
  }
}

}  // namespace heddle::simulation
