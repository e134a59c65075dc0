#include <map>

#include "heddle/entry_text.hpp"
#include "heddle/error.hpp"

namespace heddle {

namespace {

/// Filled before main, by initialisers of the files that CMake writes.
std::map<std::string, std::string_view, std::less<>>& registered() {
  static std::map<std::string, std::string_view, std::less<>> headers;
  return headers;
}

}  // namespace

bool register_entry_header(const char* name, std::string_view text) {
  registered()[name] = text;
  return true;
}

std::string_view entry_header(const std::string& name) {
  const auto found = registered().find(name);
  if (found != registered().end()) return found->second;
  throw Error(ErrorKind::unsupported, "the text of the entry's header '" + name +
                                          "' is not in this program; heddle_embed_entry(target " +
                                          name + ") in its CMakeLists.txt puts it there");
}

}  // namespace heddle
