#include "surface_size.hpp"

#include <cmath>
#include <numbers>

#include "heddle/tools/points.hpp"

namespace heddle::spin {

using namespace points;

double SurfaceSize::radius() const { return std::sqrt(area / (4 * std::numbers::pi)); }

double area_of(const TriangleMesh& mesh, const std::array<Index, 3>& corner) {
  const Point& a = mesh.position[corner[0]];
  return 0.5 * length(cross(mesh.position[corner[1]] - a, mesh.position[corner[2]] - a));
}

SurfaceSize surface_size(const TriangleMesh& mesh) {
  SurfaceSize size;
  for (const auto& corner : mesh.triangle) {
    const double area = area_of(mesh, corner);
    size.area += area;
    for (const Index v : corner) size.centre = size.centre + (area / 3) * mesh.position[v];
  }
  size.centre = (1 / size.area) * size.centre;
  return size;
}

}  // namespace heddle::spin
