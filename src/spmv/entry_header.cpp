#include <map>
#include <mutex>

#include "heddle/entry_text.hpp"
#include "heddle/error.hpp"

namespace heddle {

namespace {

struct Header {
  std::string_view text;
  bool ambiguous = false;
};

/// Filled before main, or when a library is opened, by initialisers in the files that CMake writes.
struct Registry {
  std::mutex mutex;
  std::map<std::string, Header, std::less<>> headers;
};

Registry& registry() {
  static Registry registry;
  return registry;
}

}  // namespace

bool register_entry_header(const char* name, std::string_view text) {
  const std::lock_guard lock(registry().mutex);
  const auto [at, is_new] = registry().headers.try_emplace(name, Header{text});
  if (!is_new && at->second.text != text) at->second.ambiguous = true;
  return true;
}

std::string_view entry_header(const std::string& name) {
  const std::lock_guard lock(registry().mutex);
  const auto found = registry().headers.find(name);
  if (found == registry().headers.end()) {
    throw Error(ErrorKind::unsupported, "the text of the header '" + name +
                                            "' is not in this program; heddle_embed_entry(target " +
                                            name + ") in its CMakeLists.txt adds it");
  }
  if (found->second.ambiguous) {
    throw Error(ErrorKind::unsupported,
                "two headers of this program are named '" + name + "'; rename one");
  }
  return found->second.text;
}

namespace detail {

EntryText built_in_text(std::string_view name, std::string_view element,
                        std::initializer_list<int> sizes) {
  const std::string own(name);
  std::string type = "heddle::" + own + "<" + std::string(element);
  for (const int size : sizes) type += ", " + std::to_string(size);
  return {type + ">", {"heddle/entries/" + own + ".hpp"}};
}

EntryText kept_as(std::string_view kept, std::string_view header, EntryText arithmetic) {
  const std::string own(header);
  arithmetic.type = "heddle::" + own + "<" + std::string(kept) + ", " + arithmetic.type + ">";
  arithmetic.headers.push_back("heddle/entries/" + own + ".hpp");
  return arithmetic;
}

}  // namespace detail

}  // namespace heddle
