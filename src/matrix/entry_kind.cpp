#include "heddle/runtime/entry_kind.hpp"

#include <algorithm>

#include "base/text/names.hpp"

namespace heddle {

namespace {

template <class Names>
std::size_t position(const Names& names, std::string_view text, const char* what) {
  const auto found = std::find_if(names.begin(), names.end(),
                                  [&](std::string_view name) { return is_same_name(name, text); });
  if (found != names.end()) return static_cast<std::size_t>(found - names.begin());
  std::string message =
      "no " + std::string(what) + " is named '" + std::string(text) + "'; there are";
  for (std::string_view name : names) message += " " + std::string(name);
  throw Error(ErrorKind::usage, message);
}

}  // namespace

EntryKind parse_entry_kind(std::string_view text) {
  return static_cast<EntryKind>(position(entry_kind_names, text, "entry"));
}
Precision parse_precision(std::string_view text) {
  return static_cast<Precision>(position(precision_names, text, "precision"));
}

}  // namespace heddle
