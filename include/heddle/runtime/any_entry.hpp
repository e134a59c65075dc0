// An entry chosen at run time: one of the built-in kinds, or a definition.
#pragma once

#include <memory>
#include <string_view>
#include <utility>

#include "heddle/export.hpp"
#include "heddle/runtime/entry_definition.hpp"
#include "heddle/runtime/entry_kind.hpp"

namespace heddle {

class HEDDLE_EXPORT AnyEntry {
 public:
  AnyEntry(EntryKind kind) : kind_(kind) {}
  AnyEntry(std::shared_ptr<const EntryDefinition> definition)
      : definition_(std::move(definition)) {}

  /// Null for a built-in kind.
  const std::shared_ptr<const EntryDefinition>& definition() const { return definition_; }
  /// Throws `Error` (unsupported) for a definition.
  EntryKind kind() const {
    if (definition_) {
      throw Error(ErrorKind::unsupported,
                  "entry " + definition_->name + " is a definition, not a built-in entry");
    }
    return kind_;
  }
  std::string_view name() const {
    return definition_ ? std::string_view(definition_->name) : heddle::name(kind_);
  }

 private:
  EntryKind kind_ = EntryKind::real;
  std::shared_ptr<const EntryDefinition> definition_;
};

}  // namespace heddle
