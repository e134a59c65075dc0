#include "body_picture.hpp"

#include <algorithm>
#include <array>
#include <cmath>
#include <numbers>

#include "../mesh/mesh_summary.hpp"
#include "../mesh/surface_picture.hpp"
#include "boundary.hpp"

namespace heddle::elastic {

using namespace points;

namespace {

/// Into a frame of the viewer's: x to the right, y up, z towards the viewer.
Point seen(const Point& p) {
  constexpr double turn = std::numbers::pi / 6, tilt = std::numbers::pi / 7;
  const double c = std::cos(turn), s = std::sin(turn), e = std::cos(tilt), f = std::sin(tilt);
  return {dot(p, {c, s, 0}), dot(p, {-s * f, c * f, e}), dot(p, {s * e, -c * e, f})};
}

/// Triangles share no corners, so that edges of the body stay sharp.
mesh::DrawnSurface drawn(const Model& model, const std::vector<Triangle>& surface,
                         const std::vector<Point>& displacement, double size) {
  double largest = 0;
  for (const Point& u : displacement) largest = std::max(largest, length(u));
  const double scale = largest > 0 ? 0.1 * size / largest : 0;
  std::vector<Point> position;
  std::vector<std::array<Index, 3>> triangles;
  mesh::DrawnSurface result;
  for (const Triangle& triangle : surface) {
    double moved = 0;
    for (const Index v : triangle) {
      const auto at = static_cast<std::size_t>(v);
      position.push_back(seen(model.position[at] + scale * displacement[at]));
      moved += length(displacement[at]) / 3;
    }
    const auto next = static_cast<Index>(position.size());
    triangles.push_back({next - 3, next - 2, next - 1});
    result.colour.push_back(mesh::colour_of(moved, largest));
  }
  result.mesh = {Array<Point>(std::span<const Point>(position)),
                 Array<std::array<Index, 3>>(std::span<const std::array<Index, 3>>(triangles))};
  return result;
}

}  // namespace

void write_body_picture(const std::string& path, const Model& model,
                        std::span<const std::vector<Point>* const> displacements) {
  const mesh::Box box = mesh::box_of(model.position);
  const double size = length(box.most - box.least);
  const std::vector<Triangle> surface = Boundary(model.tetrahedron).triangles();
  std::vector<mesh::DrawnSurface> surfaces;
  for (const auto* const displacement : displacements) {
    surfaces.push_back(drawn(model, surface, *displacement, size));
  }
  const int side = surfaces.size() == 1 ? 640 : 320;
  mesh::write_picture(path, surfaces, side);
}

}  // namespace heddle::elastic
