#include "surface_size.hpp"

#include <cmath>
#include <numbers>

#include "heddle/tools/points.hpp"
#include "parallel_sums.hpp"

namespace heddle::spin {

using namespace points;

double SurfaceSize::radius() const { return std::sqrt(area / (4 * std::numbers::pi)); }

double area_of(const TriangleMesh& mesh, const std::array<Index, 3>& corner) {
  const Point& a = mesh.position[corner[0]];
  return 0.5 * length(cross(mesh.position[corner[1]] - a, mesh.position[corner[2]] - a));
}

SurfaceSize surface_size(const TriangleMesh& mesh) {
  const auto [area, x, y, z] =
      parallel_sums<4>(mesh.triangle.size(), [&](std::size_t t, std::array<double, 4>& sums) {
        const auto& corner = mesh.triangle[t];
        const double of_triangle = area_of(mesh, corner);
        sums[0] += of_triangle;
        for (const Index v : corner) {
          for (std::size_t k = 0; k < 3; ++k) sums[k + 1] += of_triangle / 3 * mesh.position[v][k];
        }
      });
  return {area, {x / area, y / area, z / area}};
}

}  // namespace heddle::spin
