// Randomness as a function of place: any thread may ask for any value, in any order.
#pragma once

#include <array>
#include <cstdint>

#include "heddle/problems.hpp"

namespace heddle::problems {

/// The purpose of a random value; each purpose is a sequence of its own under one seed.
enum class Purpose : std::uint64_t { coefficient, shape, jitter, height, potential, wavenumber };

/// Two rounds of multiply and fold; each input bit reaches all output bits.
constexpr std::uint64_t mix(std::uint64_t x) {
  x = (x ^ (x >> 32)) * 0xd6e8feb86659fd93u;
  x = (x ^ (x >> 29)) * 0xa0761d6478bd642fu;
  return x ^ (x >> 32);
}

/// Uniform in [0, 1), 53 bits.
constexpr double uniform(std::uint64_t seed, Purpose purpose, std::uint64_t place) {
  const std::uint64_t key =
      mix(seed + 0x9e3779b97f4a7c15u * (static_cast<std::uint64_t>(purpose) + 1));
  return static_cast<double>(mix(key ^ mix(place + 0x632be59bd9b4e019u)) >> 11) * 0x1p-53;
}
constexpr double uniform(std::uint64_t seed, Purpose purpose, std::uint64_t place, double low,
                         double high) {
  return low + (high - low) * uniform(seed, purpose, place);
}

/// A random function with values in [-1, 1] that varies over about half a unit: a weighted mean of
/// bumps 1 / (1 + |x - centre|^2 / 0.25) in the box [low, high]^3. Its gradient is at most 1.3.
class SmoothField {
 public:
  SmoothField(std::uint64_t seed, Purpose purpose, int member, double low, double high) {
    std::uint64_t place = static_cast<std::uint64_t>(member) * 4 * bumps;
    double sum = 0;
    for (Bump& bump : bump_) {
      for (double& c : bump.centre) c = uniform(seed, purpose, place++, low, high);
      bump.weight = uniform(seed, purpose, place++, -1, 1);
      sum += bump.weight < 0 ? -bump.weight : bump.weight;
    }
    for (Bump& bump : bump_) bump.weight /= sum;
  }

  double operator()(const Point& x) const {
    double value = 0;
    for (const Bump& bump : bump_) {
      double square = 0;
      for (int d = 0; d < 3; ++d) square += (x[d] - bump.centre[d]) * (x[d] - bump.centre[d]);
      value += bump.weight / (1 + 4 * square);
    }
    return value;
  }

 private:
  static constexpr int bumps = 6;
  struct Bump {
    Point centre;
    double weight;
  };
  std::array<Bump, bumps> bump_;
};

}  // namespace heddle::problems
