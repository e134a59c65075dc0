// The inverse of a diagonal entry, or what counts as its inverse where it has none.
#pragma once

#include "heddle/entries/annotations.hpp"

namespace heddle::detail {

/// Puts the inverse of an entry of `count` components into `inverted`, by `invert()`. An entry of
/// zeros counts as the unit entry, whose components are `unit`; null if the kind of entry has none.
/// Another one that `is_singular()` counts as one with a 1 in place of each zero on its own
/// diagonal, or else as a unit of its size. False for an entry that is not finite, or without a
/// unit; `entry` may have changed.
template <class T, class U, class Invert, class IsSingular>
HEDDLE_INLINE bool invert_or_unit(T* entry, T* inverted, int count, const U* unit,
                                  const Invert& invert, const IsSingular& is_singular) {
  T largest = 0;
  bool is_finite = true;
  for (int k = 0; k < count; ++k) {
    const T size = entry[k] < 0 ? -entry[k] : entry[k];
    largest = size > largest ? size : largest;
    is_finite = is_finite && entry[k] - entry[k] == 0;
  }
  if (largest > 0 || !is_finite) {
    invert();
    if (!is_singular()) return true;
    if (unit == nullptr || !is_finite) return false;
    for (int k = 0; k < count; ++k) {
      if (unit[k] != 0 && entry[k] == 0) entry[k] = static_cast<T>(unit[k]);
    }
    invert();
    if (!is_singular()) return true;
  }
  if (unit == nullptr) return false;
  T scale = 1 / largest;
  if (!(scale - scale == 0)) scale = 1;  // of zeros, and of the smallest numbers
  for (int k = 0; k < count; ++k) inverted[k] = scale * static_cast<T>(unit[k]);
  return true;
}

}  // namespace heddle::detail
