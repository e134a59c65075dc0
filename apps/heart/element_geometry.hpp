// The linear tetrahedron: its volume, and the gradients of its barycentric coordinates.
#pragma once

#include <array>

#include "heddle/tools/points.hpp"

namespace heddle::heart {

struct ElementGeometry {
  double volume = 0;
  std::array<Point, 4> gradient{};

  explicit ElementGeometry(const std::array<Point, 4>& corner) {
    using namespace points;
    const Point b = corner[1] - corner[0], c = corner[2] - corner[0], d = corner[3] - corner[0];
    const double v6 = dot(b, cross(c, d));
    volume = v6 / 6;
    gradient[1] = (1 / v6) * cross(c, d);
    gradient[2] = (1 / v6) * cross(d, b);
    gradient[3] = (1 / v6) * cross(b, c);
    gradient[0] = -1.0 * (gradient[1] + gradient[2] + gradient[3]);
  }

  /// The gradient of a function that is linear in the element.
  Point gradient_of(const std::array<double, 4>& at_corner) const {
    using namespace points;
    Point sum{};
    for (std::size_t a = 1; a < 4; ++a) sum = sum + (at_corner[a] - at_corner[0]) * gradient[a];
    return sum;
  }
};

}  // namespace heddle::heart
