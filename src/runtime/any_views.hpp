// Views of fields whose precision is known at run time only.
#pragma once

#include <span>
#include <vector>

#include "heddle/runtime/any_solver.hpp"

namespace heddle {

/// Throws `Error` (size_mismatch) unless S is the scalar of each.
template <class S>
std::vector<FieldView<S>> views_of(std::span<AnyField> fields) {
  std::vector<FieldView<S>> views;
  for (AnyField& field : fields) views.push_back(field.view<S>());
  return views;
}
template <class S>
std::vector<FieldView<const S>> views_of(std::span<const AnyField> fields) {
  std::vector<FieldView<const S>> views;
  for (const AnyField& field : fields) views.push_back(field.view<S>());
  return views;
}

}  // namespace heddle
