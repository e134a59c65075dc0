// Fields to multiply and solve with in trials.
#pragma once

#include <cstdint>

#include "heddle/runtime/any_operator.hpp"
#include "heddle/tools/random_field.hpp"

namespace heddle {

/// The field with numbers in [-1, 1) that are exact in floats, the same for every storage.
inline AnyField with_random_numbers(AnyField field) {
  const Offset scalars = Offset(field.rows()) * field.components();
  for (Offset i = 0; i < scalars; ++i) {
    field.set(i, static_cast<double>(
                     static_cast<float>(random_component(1, static_cast<std::uint64_t>(i)))));
  }
  return field;
}

}  // namespace heddle
