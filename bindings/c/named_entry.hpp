// Entries by the numbers of heddle.h: those of the library, and those that a context has defined.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <utility>
#include <vector>

#include "heddle.h"
#include "heddle/error.hpp"
#include "heddle/runtime/any_entry.hpp"

namespace heddle::c {

/// Defined entries have numbers from here on.
inline constexpr int first_defined = 1024;

/// Throws `Error` (usage) for an unknown number.
inline EntryKind kind_of(heddle_entry entry) {
  const auto number = static_cast<unsigned>(entry);
  if (number < entry_kind_names.size()) return static_cast<EntryKind>(number);
  throw Error(ErrorKind::usage, "there is no entry number " + std::to_string(number));
}
inline heddle_entry entry_of(EntryKind kind) { return static_cast<heddle_entry>(kind); }
static_assert(static_cast<int>(EntryKind::complex_block3) == HEDDLE_COMPLEX_BLOCK3);

struct NamedEntry {
  NamedEntry(EntryKind kind) : number(entry_of(kind)), entry(kind) {}
  NamedEntry(heddle_entry defined, AnyEntry of) : number(defined), entry(std::move(of)) {}

  /// Scalars in a row of a vector.
  int row_scalars() const {
    const auto& definition = entry.definition();
    return definition ? definition->vector_size() : heddle_row_scalars(number);
  }

  heddle_entry number;
  AnyEntry entry;
};

/// The definitions of a context. Several threads may use it.
class Definitions {
 public:
  /// A known text keeps its number. Throws `Error` like `parse_entry_definition`.
  NamedEntry define(const std::string& json) {
    const std::lock_guard lock(mutex_);
    for (const auto& [text, known] : known_) {
      if (text == json) return known;
    }
    auto definition =
        std::make_shared<const EntryDefinition>(parse_entry_definition(json, "the definition"));
    const auto number = static_cast<heddle_entry>(first_defined + static_cast<int>(known_.size()));
    known_.emplace_back(json, NamedEntry(number, std::move(definition)));
    return known_.back().second;
  }
  /// Throws `Error` (usage) for an unknown number.
  NamedEntry find(heddle_entry entry) const {
    const std::lock_guard lock(mutex_);
    const auto number = static_cast<std::int64_t>(entry);
    const auto at = static_cast<std::size_t>(number - first_defined);
    if (number >= first_defined && at < known_.size()) return known_[at].second;
    return kind_of(entry);
  }

 private:
  mutable std::mutex mutex_;
  std::vector<std::pair<std::string, NamedEntry>> known_;
};

}  // namespace heddle::c
