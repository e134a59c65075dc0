// Sums over vertices or triangles by all threads.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <vector>

#include "heddle/tools/team.hpp"

namespace heddle::spin {

/// The N sums to which `body(i, sums)` adds for i in [0, count), with the same bits for any number
/// of threads.
template <std::size_t N, class Body>
std::array<double, N> parallel_sums(std::size_t count, const Body& body) {
  constexpr std::size_t part = 512;
  std::vector<std::array<double, N>> of_part((count + part - 1) / part);
  parallel_for(default_threads(), of_part.size(), 1, [&](std::size_t p) {
    std::array<double, N> sums{};
    for (std::size_t i = p * part; i < std::min(count, (p + 1) * part); ++i) body(i, sums);
    of_part[p] = sums;
  });
  std::array<double, N> all{};
  for (const std::array<double, N>& sums : of_part) {
    for (std::size_t k = 0; k < N; ++k) all[k] += sums[k];
  }
  return all;
}

}  // namespace heddle::spin
