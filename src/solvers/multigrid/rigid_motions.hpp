// Infinitesimal motions of a rigid body, at one of its points.
#pragma once

#include "heddle/entries/annotations.hpp"

namespace heddle::detail {

struct RigidMotions {
  int dimension = 3;
  double centre[3] = {};
  double radius = 1;

  /// Translations, and turns in the planes xy, yz and zx.
  HEDDLE_HD constexpr int count() const { return dimension == 2 ? 3 : 6; }
  /// Component c of a motion, where a point lies.
  HEDDLE_HD double at(const double* point, int motion, int c) const {
    if (motion < dimension) return c == motion ? 1 : 0;
    const int from = motion - dimension, to = (from + 1) % 3;
    if (c == from) return -((point[to] - centre[to]) / radius);
    return c == to ? (point[from] - centre[from]) / radius : 0;
  }
};

}  // namespace heddle::detail
