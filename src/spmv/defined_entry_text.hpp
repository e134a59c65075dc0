// A definition in the form that the run-time compiler of a GPU is given.
#pragma once

#include <type_traits>

#include "heddle/entry_text.hpp"
#include "heddle/runtime/entry_definition.hpp"

namespace heddle {

/// Text of the printed type over S, computing in T: S itself, or double for residuals of floats.
template <class S, class T = S>
EntryText text_of(const EntryDefinition& definition) {
  const std::string header = "heddle_user/" + definition.name + ".hpp";
  EntryText text{cuda_type_name(definition) + "<" + std::string(detail::scalar_name<T>()) + ">",
                 {header},
                 {{header, cuda_text(definition)}}};
  if constexpr (!std::is_same_v<S, T>) {
    text.type =
        "heddle::stored_as<" + std::string(detail::scalar_name<S>()) + ", " + text.type + ">";
    text.headers.emplace_back("heddle/entries/stored_as.hpp");
  }
  return text;
}

}  // namespace heddle
