// The inverse of a diagonal entry, or what counts as its inverse where it has none.
#pragma once

#include "heddle/entries/annotations.hpp"

namespace heddle::detail {

/// Puts the inverse of an entry of `count` components into `inverted`, by `invert()`. An entry that
/// `is_singular()` counts as one with a 1 in place of each zero on its own diagonal, or else as the
/// unit entry, whose components are `unit`; null if the kind of entry has none. False for an entry
/// that is not finite, or without a unit; `entry` may have changed.
template <class T, class U, class Invert, class IsSingular>
HEDDLE_INLINE bool invert_or_unit(T* entry, T* inverted, int count, const U* unit,
                                  const Invert& invert, const IsSingular& is_singular) {
  invert();
  if (!is_singular()) return true;
  if (unit == nullptr) return false;
  for (int k = 0; k < count; ++k) {
    if (!(entry[k] - entry[k] == 0)) return false;
  }
  for (int k = 0; k < count; ++k) {
    if (unit[k] != 0 && entry[k] == 0) entry[k] = static_cast<T>(unit[k]);
  }
  invert();
  if (!is_singular()) return true;
  for (int k = 0; k < count; ++k) inverted[k] = static_cast<T>(unit[k]);
  return true;
}

}  // namespace heddle::detail
