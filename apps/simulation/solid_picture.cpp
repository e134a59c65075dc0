#include "solid_picture.hpp"

#include <array>
#include <cmath>
#include <numbers>
#include <utility>

#include "heddle/tools/points.hpp"

namespace heddle::simulation {

using namespace points;

namespace {

/// Rotates into the viewer's frame: x to the right, y up, z towards the viewer.
Point seen(const Point& p) {
  constexpr double turn = std::numbers::pi / 6, tilt = std::numbers::pi / 7;
  const double c = std::cos(turn), s = std::sin(turn), e = std::cos(tilt), f = std::sin(tilt);
  return {dot(p, {c, s, 0}), dot(p, {-s * f, c * f, e}), dot(p, {s * e, -c * e, f})};
}

}  // namespace

mesh::DrawnSurface drawn_surface(std::span<const Point> position,
                                 std::span<const Triangle> triangles,
                                 std::vector<mesh::Colour> colour) {
  std::vector<Point> corners;
  std::vector<Triangle> drawn;
  for (const Triangle& triangle : triangles) {
    for (const Index v : triangle) corners.push_back(seen(position[static_cast<std::size_t>(v)]));
    const auto next = static_cast<Index>(corners.size());
    drawn.push_back({next - 3, next - 2, next - 1});
  }
  return {{Array<Point>(std::span<const Point>(corners)),
           Array<Triangle>(std::span<const Triangle>(drawn))},
          std::move(colour)};
}

}  // namespace heddle::simulation
