#include "surface_size.hpp"

#include <cmath>
#include <numbers>

#include "heddle/points.hpp"

namespace heddle::spin {

using namespace points;

double SurfaceSize::radius() const { return std::sqrt(area / (4 * std::numbers::pi)); }

SurfaceSize surface_size(const TriangleMesh& mesh) {
  SurfaceSize size;
  for (const auto& corner : mesh.triangle) {
    const Point &a = mesh.position[corner[0]], &b = mesh.position[corner[1]],
                &c = mesh.position[corner[2]];
    const double area = 0.5 * length(cross(b - a, c - a));
    size.area += area;
    size.centre = size.centre + (area / 3) * (a + b + c);
  }
  size.centre = (1 / size.area) * size.centre;
  return size;
}

}  // namespace heddle::spin
