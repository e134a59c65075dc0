// A product with quaternions as sixteen products with real matrices, one for each pair of
// components (Mueller-Roemer et al. 2020, equation 2).
#pragma once

#include <array>
#include <cstddef>
#include <span>
#include <vector>

namespace heddle::bench {

/// Component `result` of y takes `sign` times the matrix of component `matrix` of the entries,
/// times component `vector` of x. The first term of each result is positive.
struct HamiltonTerm {
  int result, matrix, vector, sign;
};

inline constexpr std::array<HamiltonTerm, 16> hamilton_terms = {{{0, 0, 0, 1},
                                                                 {0, 1, 1, -1},
                                                                 {0, 2, 2, -1},
                                                                 {0, 3, 3, -1},
                                                                 {1, 0, 1, 1},
                                                                 {1, 1, 0, 1},
                                                                 {1, 2, 3, 1},
                                                                 {1, 3, 2, -1},
                                                                 {2, 0, 2, 1},
                                                                 {2, 1, 3, -1},
                                                                 {2, 2, 0, 1},
                                                                 {2, 3, 1, 1},
                                                                 {3, 0, 3, 1},
                                                                 {3, 1, 2, 1},
                                                                 {3, 2, 1, -1},
                                                                 {3, 3, 0, 1}}};

/// Component `k` of quaternions that lie one after the other.
template <class To, class From>
std::vector<To> component_of_quaternions(std::span<const From> scalars, int k) {
  std::vector<To> plane;
  plane.reserve(scalars.size() / 4);
  for (auto i = static_cast<std::size_t>(k); i < scalars.size(); i += 4) {
    plane.push_back(static_cast<To>(scalars[i]));
  }
  return plane;
}

/// The inverse for all four components, in double.
template <class Plane>
std::vector<double> quaternions_of(const std::array<Plane, 4>& planes) {
  std::vector<double> scalars;
  const auto rows = static_cast<std::size_t>(planes[0].size());
  scalars.reserve(4 * rows);
  for (std::size_t i = 0; i < rows; ++i) {
    for (const Plane& plane : planes) scalars.push_back(static_cast<double>(plane.data()[i]));
  }
  return scalars;
}

}  // namespace heddle::bench
