// Random scalars as a function of seed and place: the same for any number of threads.
#pragma once

#include <cstdint>

namespace heddle {

/// Uniform in [-1, 1), 53 bits, by the SplitMix64 finaliser (Steele, Lea, Flood 2014).
constexpr double random_component(std::uint64_t seed, std::uint64_t place) {
  std::uint64_t z = seed * 0x9e3779b97f4a7c15u + (place + 1) * 0xd1b54a32d192ed03u;
  z = (z ^ (z >> 30)) * 0xbf58476d1ce4e5b9u;
  z = (z ^ (z >> 27)) * 0x94d049bb133111ebu;
  return static_cast<double>((z ^ (z >> 31)) >> 11) * 0x1p-52 - 1;
}

}  // namespace heddle
