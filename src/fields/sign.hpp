// Signs without pattern, the same on every device.
#pragma once

#include "heddle/entries/annotations.hpp"

namespace heddle::detail {

/// True for about half of all numbers: a bit of the finaliser of SplitMix64 (Steele et al. 2014).
HEDDLE_INLINE bool is_negative_at(unsigned long long i) {
  unsigned long long z = (i + 1) * 0x9e3779b97f4a7c15ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  return ((z ^ (z >> 31)) & 1) != 0;
}

}  // namespace heddle::detail
