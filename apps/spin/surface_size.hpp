// Area and centre of a surface.
#pragma once

#include <array>

#include "heddle/problems.hpp"

namespace heddle::spin {

struct SurfaceSize {
  double area = 0;
  Point centre{};  // area-weighted mean of the surface's points

  /// Radius of the sphere with that area.
  double radius() const;
};

double area_of(const TriangleMesh& mesh, const std::array<Index, 3>& corner);

SurfaceSize surface_size(const TriangleMesh& mesh);

}  // namespace heddle::spin
