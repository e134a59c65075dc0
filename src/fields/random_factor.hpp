// Factors without a pattern, the same on every device.
#pragma once

#include "heddle/entries/annotations.hpp"

namespace heddle::detail {

/// A factor of either sign with a magnitude in [1/2, 3/2), exact in single precision too.
HEDDLE_INLINE double random_factor_at(unsigned long long i, unsigned long long seed) {
  // The finaliser of SplitMix64 (Steele et al. 2014).
  unsigned long long z = (i + 1) * 0x9e3779b97f4a7c15ULL + seed * 0xd1b54a32d192ed03ULL;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9ULL;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebULL;
  z ^= z >> 31;
  const double magnitude = 0.5 + static_cast<double>(z >> 42) * (1.0 / (1 << 22));
  return (z & 1) != 0 ? -magnitude : magnitude;
}

/// The mean of the squares of the factors.
inline constexpr double mean_square_of_factors = 13.0 / 12;

}  // namespace heddle::detail
