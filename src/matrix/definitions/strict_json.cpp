#include "strict_json.hpp"

#include <cerrno>
#include <cstring>
#include <fstream>
#include <set>
#include <vector>

#include "heddle/error.hpp"
#include "heddle/tools/text.hpp"

namespace heddle::detail {

namespace {

using nlohmann::json;

/// "[json.exception.parse_error.101] parse error at ..." without its unhelpful first words.
std::string one_line(std::string message) {
  const auto bracket = message.find("] ");
  if (bracket != std::string::npos) message.erase(0, bracket + 2);
  for (char& c : message) c = c >= ' ' && c <= '~' ? c : '?';
  constexpr std::size_t longest = 200;
  return message.size() > longest ? message.substr(0, longest) + "..." : message;
}

}  // namespace

json parse_strict_json(std::string_view text, int max_levels) {
  std::vector<std::set<std::string>> keys;  // keys of each open level
  const auto watch = [&](int, json::parse_event_t event, json& parsed) {
    switch (event) {
      case json::parse_event_t::object_start:
      case json::parse_event_t::array_start:
        keys.emplace_back();
        if (keys.size() > static_cast<std::size_t>(max_levels)) {
          throw Error(ErrorKind::malformed_file,
                      "more than " + std::to_string(max_levels) + " levels of nesting");
        }
        break;
      case json::parse_event_t::object_end:
      case json::parse_event_t::array_end:
        keys.pop_back();
        break;
      case json::parse_event_t::key:
        if (!keys.back().insert(parsed.get<std::string>()).second) {
          throw Error(ErrorKind::malformed_file,
                      "the key " + io::in_quotes(parsed.get<std::string>()) + " appears twice");
        }
        break;
      case json::parse_event_t::value:
        break;
    }
    return true;
  };
  try {
    return json::parse(text, watch);
  } catch (const json::exception& error) {
    throw Error(ErrorKind::malformed_file, one_line(error.what()));
  }
}

std::string text_of_file(const std::string& path, std::size_t most) {
  errno = 0;
  std::ifstream file(path, std::ios::binary);
  if (!file) throw Error(ErrorKind::io, path + ": " + std::strerror(errno));
  std::string bytes, piece(1 << 16, '\0');
  do {
    file.read(piece.data(), static_cast<std::streamsize>(piece.size()));
    bytes.append(piece, 0, static_cast<std::size_t>(file.gcount()));
  } while (file && bytes.size() <= most);
  if (file.bad()) throw Error(ErrorKind::io, path + ": " + std::strerror(errno));
  if (bytes.size() > most) {
    throw Error(ErrorKind::malformed_file,
                path + ": over " + std::to_string(most >> 20) + " MiB, the limit for JSON");
  }
  return bytes;
}

}  // namespace heddle::detail
